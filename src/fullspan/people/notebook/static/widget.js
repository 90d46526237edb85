// node_modules/preact/dist/preact.mjs
var e, t, n, r, i, a, o, s, c, l, u = Symbol.for("pv"), d = {}, f = [], p = /^m(i|n|o|s|text|space)$/, m = Array.isArray, h = f.slice, g = Object.assign;
function _(e) {
	e && e.parentNode && e.remove();
}
function v(n, r, i, a, o) {
	var s = {
		type: n,
		props: r,
		key: i,
		ref: a,
		__k: null,
		__: null,
		__b: 0,
		__e: null,
		__c: null,
		constructor: u,
		__v: o || ++t,
		__i: -1,
		__u: 0
	};
	return !o && e.vnode && e.vnode(s), s;
}
function y(e) {
	return e.children;
}
function b(e, t) {
	this.props = e, this.context = t, this.__g = 0;
}
function x(e, t) {
	if (t == null) return e.__ && x(e.__, e.__i + 1);
	for (var n; t < e.__k.length; t++) if ((n = e.__k[t]) && n.__e) return n.__e;
	return typeof e.type != "function" || e.props.__P ? null : x(e);
}
function S(t) {
	var n, r = t.__v, i = r.__e, a = [], o = [], s = t.__P;
	s && ((n = g({ constructor: u }, r)).__v = r.__v + 1, e.vnode && e.vnode(n), ie(s, n, r, t.__n, s.namespaceURI, 32 & r.__u ? [i] : null, a, i || x(r), 32 & r.__u, o), n.__v = r.__v, n.__.__k[n.__i] = n, k(a, n, o), r.__ = r.__e = null, n.__e != i && C(n));
}
function C(e) {
	if ((e = e.__) && e.__c && !e.props.__P) return e.__e = null, e.__k.some(function(t) {
		return t && (e.__e = t.__e);
	}), C(e);
}
function w(t) {
	(8 & t.__g || (t.__g |= 8, n.push(t), i++)) && r == e.debounceRendering || ((r = e.debounceRendering) || queueMicrotask)(T);
}
function T() {
	try {
		for (var e, t = 1; n.length;) n.length > t && n.sort(a), e = n.shift(), t = n.length, 8 & e.__g && S(e);
	} finally {
		(i = n.length) && (r || queueMicrotask)(T);
	}
}
function ee(e, t, n, r, i, a, o, s, c, l, u) {
	var p, m, h, g, _, v, y = r.__k || f, b = t.length;
	for (c = E(n, t, y, c, b), p = 0; p < b; p++) (h = n.__k[p]) != null && (m = ~h.__i && y[h.__i] || d, h.__i = p, v = ie(e, h, m, i, a, o, s, c, l, u), g = h.__e, (m.ref != h.ref || 8 & m.__u) && (m.ref && ce(m.ref, null, h, m), h.ref && u.push(h.ref, h.__c || g, h)), _ ||= g, 4 & h.__u ? (c = D(h, c, e, !m.__v), m.__e && (m.__e = null)) : typeof h.type == "function" && v !== void 0 ? c = v : g && (c = g.nextSibling), h.__u &= -21);
	return n.__e = _, c;
}
function E(e, t, n, r, i) {
	var a, o, s, c, l, d, f, p, h, g = n.length, _ = g, b = 0, S = 0, C = e.__k = Array(i);
	for (a = 0; a < i; a++) (o = t[a]) != null && typeof o != "boolean" && typeof o != "function" ? (typeof o != "object" || o.constructor === String ? o = C[a] = v(null, o) : m(o) ? o = C[a] = v(y, { children: o }) : o.constructor === u && o.__b ? o = C[a] = v(o.type, o.props, o.key, o.ref, o.__v) : C[a] = o, c = a + b, o.__ = e, o.__b = e.__b + 1, s = null, ~(l = o.__i = te(o, n, c, _)) && (_--, (s = n[l]) && (s.__u |= 2)), s && s.__v ? (o.__u |= 16, l == c - 1 ? b-- : l == c + 1 ? b++ : l != c && (l > c ? b-- : b++, S = 1)) : (~l || (i > g ? b-- : i < g && b++), typeof o.type != "function" && (o.__u |= 4))) : C[a] = null;
	if (S) {
		for (d = [], f = [], a = 0; a < i; a++) if ((o = C[a]) && 16 & o.__u) {
			for (b = 0, p = d.length; b < p;) d[h = b + p >> 1] < o.__i ? b = h + 1 : p = h;
			d[b] = o.__i, f[a] = b + 1;
		}
		for (b = d.length; a--;) f[a] && (f[a] == b ? b-- : C[a].__u |= 4);
	}
	if (_) for (a = 0; a < g; a++) !(s = n[a]) || 2 & s.__u || (s.__e == r && (r = x(s)), le(s, s));
	return r;
}
function D(e, t, n, r) {
	var i, a, o, s;
	if (typeof e.type == "function") {
		if (e.props.__P) return t;
		if (i = e.__k) for (a = 0; a < i.length; a++) i[a] && (i[a].__ = e, t = D(i[a], t, n, !1));
		return t;
	}
	for (t && !t.parentNode && (t = x(e)) && !t.parentNode && (t = null), o = e.__e, s = t; s && s.nodeType == 8;) s = s.nextSibling;
	for (o != s && (!r && n.moveBefore && o.parentNode ? n.moveBefore(o, t) : n.insertBefore(o, t || null)), t = o; (t &&= t.nextSibling) && t.nodeType == 8 && !t.data.startsWith("$s"););
	return t;
}
function te(e, t, n, r) {
	var i, a = e.key, o = e.type, s = t[n], c = s && !(2 & s.__u);
	if (s === null && a == null || c && a == s.key && o == s.type) return n;
	if (r > +!!c) {
		for (i = n - 1; i >= 0; i--) if ((s = t[i]) && !(2 & s.__u) && a == s.key && o == s.type) return i;
		for (i = n + 1; i < t.length; i++) if ((s = t[i]) && !(2 & s.__u) && a == s.key && o == s.type) return i;
	}
	return -1;
}
function O(e, t, n) {
	n ??= "", t[0] == "-" ? e.setProperty(t, n) : e[t] = n;
}
function ne(e, t, n, r, i) {
	var a, o;
	if (t == "style") {
		if (typeof n == "string") e.style.cssText = n;
		else {
			if (typeof r == "string" && (e.style.cssText = r = ""), r) for (t in r) n && t in n || O(e.style, t);
			if (n) for (t in n) r && n[t] == r[t] || O(e.style, t, n[t]);
		}
	} else if (t[0] == "o" && t[1] == "n") typeof n != "function" && (n = null), typeof r != "function" && (r = null), (e.__e ||= {})[t] = n, n && r || (o = l[t] || (l[t] = re(t)), (e.__a ||= {})[t] = c, a = t != (t = t.replace(s, "$1")), (t = t.slice(2))[0] < "a" && (t = t.toLowerCase()), n ? e.addEventListener(t, o, a) : e.removeEventListener(t, o, a));
	else {
		if (i == "http://www.w3.org/2000/svg") t = t.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
		else if (t != "width" && t != "height" && t != "href" && t != "list" && t != "form" && t != "tabIndex" && t != "download" && t != "rowSpan" && t != "colSpan" && t != "role" && t != "popover" && t in e) try {
			e[t] = n ?? "";
			return;
		} catch {}
		if (typeof n == "function") return;
		n == null || !1 === n && t[4] != "-" ? e.removeAttribute(t) : e.setAttribute(t, t == "popover" && n == 1 ? "" : n);
	}
}
function re(t) {
	return function(n) {
		var r = this.__e;
		if (r) {
			if (r = r[t], n[o] == null) n[o] = c++;
			else if (n[o] < this.__a[t]) return;
			return r(e.event ? e.event(n) : n);
		}
	};
}
function ie(t, n, r, i, a, o, s, c, l, d) {
	var p, h, v, S, C, w, T, E, D, te, O, ne, re, ie, k, ce, A, j, M = n.type;
	if (n.constructor !== u) return null;
	128 & r.__u && (l = 32 & r.__u, p = r.__c.__z) && (n.__u |= l, h = o = [], p.nodeType == 8 ? c = ae(p, o) : o.push(p), c = o[0] || c), (p = e.__b) && p(n);
	n: if (typeof M == "function") {
		v = s.length;
		try {
			if (E = n.props, D = (p = M.prototype) && p.render, te = (p = M.contextType) && i[p.__c], O = p ? te ? te.props.value : p.__ : i, (S = r.__c) ? (n.__c = S, 2 & S.__g && (S.__g |= 1)) : (D ? n.__c = S = new M(E, O) : (n.__c = S = new b(E, O), S.constructor = M, S.render = ue), te && te.sub(S), S.state || (S.state = {}), S.__n = i, S.__g |= 8, S.__h = [], S.__k = []), D && (S.__s || (S.__s = S.state), M.getDerivedStateFromProps && (S.__s == S.state && (S.__s = g({}, S.__s)), g(S.__s, M.getDerivedStateFromProps(E, S.__s)))), C = S.props, w = S.state, S.__v = n, r.__c) {
				if (E !== C && D && !M.getDerivedStateFromProps && S.componentWillReceiveProps && S.componentWillReceiveProps(E, O), n.__v == r.__v && !(8 & S.__g) || !(4 & S.__g) && S.shouldComponentUpdate && !1 === S.shouldComponentUpdate(E, S.__s, O)) {
					n.__v != r.__v && (S.props = E, S.state = S.__s, S.__g &= -9), n.__e = r.__e, n.__k = r.__k, n.__k.some(function(e) {
						e && (e.__ = n);
					}), f.push.apply(S.__h, S.__k), S.__k = [], S.__h.length && s.push(S), c = x(r);
					break n;
				}
				S.componentWillUpdate && S.componentWillUpdate(E, S.__s, O), D && S.componentDidUpdate && S.__h.push(function() {
					S.componentDidUpdate(C, w, T);
				});
			} else D && !M.getDerivedStateFromProps && S.componentWillMount && S.componentWillMount(), D && S.componentDidMount && S.__h.push(S.componentDidMount);
			S.context = O, S.props = E, S.__P = t, S.__g &= -5, ne = e.__r, re = D ? 25 : 0;
			do
				S.__g &= -9, ne && ne(n), p = S.render(S.props, S.state = S.__s, S.context);
			while (8 & S.__g && ++re < 25);
			D && (f.push.apply(S.__h, S.__k), S.__k = []), S.state = S.__s, S.getChildContext && (i = g({}, i, S.getChildContext())), D && r.__c && S.getSnapshotBeforeUpdate && (T = S.getSnapshotBeforeUpdate(C, w)), ie = p && p.type === y && p.key == null ? p.props.children : p, E.__P && (p = c, a = (t = E.__P).namespaceURI, l = o = null, r.props && r.props.__P != t && (r.__k.some(function(e) {
				e && le(e, e);
			}), r.__k = null), c = r.__k ? x(r, 0) : null), c = ee(t, m(ie) ? ie : [ie], n, r, i, a, o, s, c, l, d), E.__P && (n.__e = null, c = p), n.__u &= -161, h && h.some(_), S.__h.length && s.push(S), 1 & S.__g && (S.__g &= -4);
		} catch (t) {
			if (s.length = v, n.__v = null, l || o) {
				if (t && t.then) {
					if (n.__u |= 128 | l, o) {
						for (~(A = o.indexOf(c || void 0)) || (A = o.length); (j = o[A - 1]) && j.nodeType == 8;) A--;
						for (; A < o.length; A++) if (j = o[A]) {
							if (o[A] = null, k) {
								if (j == ce) break;
							} else {
								if (j.nodeType != 8) break;
								j.data.startsWith("$s") && (ce = ae(k = j));
							}
						}
					}
					if (!k) {
						for (; c && c.nodeType == 8 && c.nextSibling;) c = c.nextSibling;
						k = c;
					}
					(p = ae(k = n.__c.__z || (n.__c.__z = k))) ? (n.__e = k, c = p) : n.__e = c, c &&= c.nextSibling;
				} else o && o.some(_);
			} else n.__e = r.__e;
			n.__k ||= r.__k || [], t && t.then || oe(n), e.__e(t, n, r);
		}
	} else c = n.__e = se(r.__e, n, r, i, a, o, s, l, d, t);
	return (p = e.diffed) && p(n), c;
}
function ae(e, t) {
	if (e && e.nodeType == 8 && e.data.startsWith("$s")) for (var n = 1; e = e.nextSibling;) {
		if (e.nodeType == 8) {
			if (e.data.startsWith("$s")) n++;
			else if (e.data.startsWith("/$s") && !--n) return e;
		}
		t && t.push(e);
	}
}
function oe(e) {
	e && (e.__c && (e.__c.__g |= 4), e.__k && e.__k.some(oe));
}
function k(t, n, r) {
	for (var i = 0; i < r.length;) ce(r[i++], r[i++], r[i++]);
	e.__c && e.__c(n, t), t.some(function(n) {
		try {
			t = n.__h, n.__h = [], t.some(function(e) {
				e.call(n);
			});
		} catch (t) {
			e.__e(t, n.__v);
		}
	});
}
function se(t, n, r, i, a, o, s, c, l, u) {
	var f, g, v, y, b, S, C, w, T = r.props || d, E = n.props, D = n.type;
	if (D == "svg" ? a = "http://www.w3.org/2000/svg" : D == "math" ? a = "http://www.w3.org/1998/Math/MathML" : a ||= "http://www.w3.org/1999/xhtml", o) {
		for (f = 0; f < o.length; f++) if ((b = o[f]) && (D ? b.localName == D : b.nodeType == 3)) {
			t = b, o[f] = null;
			break;
		}
	}
	if (!t) {
		if (w = u.ownerDocument || document, !D) return w.createTextNode(E);
		t = w.createElementNS(a, D, E.is ? E : u), c &&= (e.__m && e.__m(n, o), !1), o = null;
	}
	if (D) {
		if (u = D == "template" && t.content || t, o = D == "textarea" && E.defaultValue != null ? null : o && h.call(u.childNodes), !c && o) for (T = {}, f = 0; f < t.attributes.length; f++) T[(b = t.attributes[f]).name] = b.value;
		for (f in T) b = T[f], f == "dangerouslySetInnerHTML" ? v = b : f == "children" || f in E || f == "value" && "defaultValue" in E || f == "checked" && "defaultChecked" in E || ne(t, f, null, b, a);
		for (f in E) b = E[f], f == "children" ? y = b : f == "dangerouslySetInnerHTML" ? g = b : f == "value" ? S = b : f == "checked" ? C = b : c && typeof b != "function" || T[f] === b || ne(t, f, b, T[f], a);
		g ? (c || v && (g.__html == v.__html || g.__html == t.innerHTML) || (t.innerHTML = g.__html), n.__k = []) : (v && (t.textContent = ""), (D == "foreignObject" || a == "http://www.w3.org/1998/Math/MathML" && p.test(D)) && (a = "http://www.w3.org/1999/xhtml"), ee(u, m(y) ? y : [y], n, r, i, a, o, s, o ? o[0] : r.__k && x(r, 0), c, l), o && o.some(_)), c && D != "textarea" || (f = "value", D == "progress" && S == null ? t.removeAttribute(f) : S == null || S === t[f] && (D != "progress" || S) || ne(t, f, S, T[f], a), f = "checked", C != null && C != t[f] && ne(t, f, C, T[f], a));
	} else T === E || c && t.data == E || (t.data = E);
	return t;
}
function ce(t, n, r, i) {
	try {
		typeof t == "function" ? n ? n.__x = t(n) || 1 : (i &&= i.__c || i.__e) && (n = i.__x) && (i.__x = null, typeof n == "function" ? n() : t(null)) : t.current = n;
	} catch (t) {
		e.__e(t, r);
	}
}
function le(t, n, r) {
	var i, a, o, s;
	if (e.unmount && e.unmount(t), !(i = t.ref) || i.current && i.current != t.__e || ce(i, null, n, t), i = t.__c) {
		if (i.componentWillUnmount) try {
			i.componentWillUnmount();
		} catch (t) {
			e.__e(t, n);
		}
		i.__P = i.__n = null;
	}
	if (i = t.__k) for (s = 0; s < i.length; s++) i[s] && le(i[s], n, typeof t.type != "function" || r && !t.props.__P);
	!r && (i = t.__c) && (i = i.__z) && (a = ae(i, o = [])) && (i == t.__e && o.some(_), _(a), _(i)), r || _(t.__e), t.__e = t.__c = t.__ = null;
}
function ue(e, t, n) {
	return this.constructor(e, n);
}
function A(t, n) {
	var r, i, a, o;
	e.__ && e.__(t, n), n.nodeType == 9 && (n = n.documentElement), i = (r = t && 32 & t.__u) ? null : n.__k, n.__k = v(y, { children: [t] }), a = [], o = [], ie(n, n.__k, i || d, d, n.namespaceURI, i ? null : n.firstChild ? h.call(n.childNodes) : null, a, i ? i.__e : n.firstChild, r, o), k(a, n.__k, o), n.__k.props.children = null;
}
e = { __e: function(e, t, n, r) {
	for (var a, o, s; t = t.__;) if ((a = t.__c) && !(1 & a.__g)) {
		a.__g |= 4;
		try {
			if ((s = (o = a.constructor) && o.getDerivedStateFromError) && a.setState(o.getDerivedStateFromError(e)), a.componentDidCatch && (a.componentDidCatch(e, r || {}), s = 1), s && 8 & a.__g) return void (a.__g |= 2);
		} catch (t) {
			e = t;
		}
	}
	throw i = 0, e;
} }, t = 0, b.prototype.setState = function(e, t) {
	var n = this.__s;
	n && n != this.state || (n = this.__s = g({}, this.state)), typeof e == "function" && (e = e(g({}, n), this.props)), e && (g(n, e), this.__v && (t && this.__k.push(t), w(this)));
}, b.prototype.forceUpdate = function(e) {
	this.__v && (this.__g |= 4, e && this.__h.push(e), w(this));
}, b.prototype.render = y, n = [], i = 0, a = function(e, t) {
	return e.__v.__b - t.__v.__b;
}, o = Symbol(), s = /(PointerCapture)$|Capture$/i, c = 0, l = {};
// node_modules/preact/hooks/dist/hooks.mjs
var j, M, de, fe, pe = Object.is, me = 0, he = [], ge = [], N = e, _e = N.__b, ve = N.__r, ye = N.diffed, be = N.__c, xe = N.unmount, Se = N.__;
function Ce(e, t) {
	N.__h && N.__h(M, e, me || t), me = 0;
	var n = M.__H || (M.__H = {
		__: [],
		__h: []
	});
	return e >= n.__.length && n.__.push({}), n.__[e];
}
function P(e) {
	return me = 1, we(Ie, e);
}
function we(e, t, n) {
	var r = Ce(j++, 2);
	if (r.t = e, !r.__c && (r.__ = [n ? n(t) : Ie(void 0, t), function(e) {
		var t = (r.__N || r.__)[0], n = r.t(t, e);
		pe(t, n) || (r.__N = [n, r.__[1]], r.__c.setState({}));
	}], r.__c = M, !M.__f)) {
		M.__f = !0;
		var i = M.shouldComponentUpdate;
		M.shouldComponentUpdate = function(e, t, n) {
			var r = this.__H;
			if (!r) return !0;
			var a = !1, o = this.props != e;
			if (r.__.some(function(e) {
				e.__N && (a = !0, pe(e.__[0], e.__N[0]) || (o = !0));
			}), i) {
				var s = i.call(this, e, t, n);
				return a ? s || o : s;
			}
			return !a || o;
		};
	}
	return r.__;
}
function Te(e, t) {
	var n = Ce(j++, 3);
	!N.__s && Fe(n.__H, t) && (n.__P = !0, n.__ = e, n.u = t, M.__H.__h.push(n));
}
function Ee(e, t) {
	var n = Ce(j++, 4);
	!N.__s && Fe(n.__H, t) && (n.__P = !1, n.__ = e, n.u = t, M.__h.push(n));
}
function De(e) {
	return me = 5, Oe(function() {
		return { current: e };
	}, []);
}
function Oe(e, t) {
	var n = Ce(j++, 7);
	return Fe(n.__H, t) && (n.__ = e(), n.__H = t), n.__;
}
function ke() {
	var e;
	do {
		for (; e = ge.shift();) try {
			Ne(e);
		} catch (t) {
			N.__e(t, { __: (e = e.__P) && e.__v });
		}
		for (; e = he.shift();) {
			var t = e.__H;
			if (e.__P && t) try {
				t.__h.some(Ne), t.__h.some(Pe), t.__h = [];
			} catch (n) {
				t.__h = [], N.__e(n, e.__v);
			}
		}
	} while (ge.length);
}
N.__b = function(e) {
	M = null, _e && _e(e);
}, N.__ = function(e, t) {
	e && t.__k && t.__k.__m && (e.__m = t.__k.__m), Se && Se(e, t);
}, N.__r = function(e) {
	ve && ve(e), j = 0;
	var t = (M = e.__c).__H;
	t && (de == M ? M.__h = [] : (t.__h.some(Ne), t.__h.some(Pe), j = 0), t.__h = [], t.__.some(function(e) {
		e.__N && (e.__ = e.__N), e.u = e.__N = void 0;
	})), de = M;
}, N.diffed = function(e) {
	ye && ye(e);
	var t = e.__c;
	t && t.__H && (t.__H.__h.length && Me(he.push(t)), t.__H.__.some(function(e) {
		e.u && (e.__H = e.u);
	})), de = M = null;
}, N.__c = function(e, t) {
	t.some(function(e) {
		try {
			e.__h.some(Ne), e.__h = e.__h.filter(function(e) {
				return !e.__ || Pe(e);
			});
		} catch (t) {
			e.__h = [function() {
				throw t;
			}];
		}
	}), be && be(e, t);
}, N.unmount = function(e) {
	xe && xe(e);
	var t, n, r = e.__c;
	r && r.__H && (r.__H.__.some(function(r) {
		try {
			if (r.__P && r.__c) {
				if (n === void 0) {
					for (n = e.__; n && (!n.__c || !n.__c.__P);) n = n.__;
					n &&= n.__c;
				}
				r.__P = n, Me(ge.push(r));
			} else Ne(r);
		} catch (e) {
			t = e;
		}
	}), r.__H = void 0, t && N.__e(t, r.__v));
};
var Ae = typeof requestAnimationFrame == "function";
function je(e) {
	var t, n = function() {
		clearTimeout(r), Ae && cancelAnimationFrame(t), setTimeout(e);
	}, r = setTimeout(n, 35);
	Ae && (t = requestAnimationFrame(n));
}
function Me(e) {
	e != 1 && fe == N.requestAnimationFrame || ((fe = N.requestAnimationFrame) || je)(ke);
}
function Ne(e) {
	var t = M, n = e.__c;
	typeof n == "function" && (e.__c = void 0, n()), M = t;
}
function Pe(e) {
	var t = M;
	e.__c = e.__(), M = t;
}
function Fe(e, t) {
	return !e || e.length != t.length || t.some(function(t, n) {
		return !pe(t, e[n]);
	});
}
function Ie(e, t) {
	return typeof t == "function" ? t(e) : t;
}
// src/api.ts
var Le = (e) => ({
	models: () => e.models(),
	variables: (t, n, r, i) => e.call(t, "variables", {
		search: n,
		limit: r
	}, i),
	graph: (t, n, r) => e.call(t, "graph", {
		focus: n,
		radius: r,
		limit: n === null ? 500 : 80
	}),
	interactions: (t, n, r = {}, i = 100) => e.call(t, "interactions", {
		offset: n,
		limit: i,
		...r
	}),
	effect: (t, n) => e.call(t, "effect", { variables: n }),
	terms: (t, n) => e.call(t, "terms", {
		offset: n,
		limit: 100
	}),
	marginals: (t, n, r) => e.call(t, "distributions", {
		given: n,
		variables: r
	}),
	consequences: (t, n, r) => e.call(t, "consequences", {
		given: n,
		...r
	}),
	margins: (t, n, r, i) => e.call(t, "margins", {
		margins: n,
		search: r,
		limit: i
	}),
	comparable: (t) => e.call(t, "comparable", {}),
	compare: (t, n, r) => e.call(t, "compare", {
		other: n,
		given: r,
		limit: 200
	}),
	row: (t, n, r) => e.call(t, "row", {
		text: n,
		number: r
	}),
	query: (t, n, r) => e.call(t, "ask", {
		text: n,
		given: r
	}),
	whatIf: (t, n, r) => e.call(t, "what_if", {
		target: n,
		given: r,
		limit: 30
	}),
	sample: (t, n, r, i) => e.call(t, "sample", {
		n,
		seed: r,
		given: i
	})
});
// src/answers.ts
function Re(e, t, n, r = 0) {
	let [i, a] = P({
		answer: null,
		wrong: "",
		of: ""
	}), o = JSON.stringify(t);
	return Te(() => {
		let t = new AbortController(), i = setTimeout(() => {
			e(t.signal)?.then((e) => {
				t.signal.aborted || a({
					answer: e,
					wrong: "",
					of: o
				});
			}).catch((e) => {
				if (!t.signal.aborted) {
					let t = n(e);
					a((e) => ({
						...e,
						wrong: t,
						of: o
					}));
				}
			});
		}, r);
		return () => {
			clearTimeout(i), t.abort();
		};
	}, [o]), {
		answer: i.answer,
		wrong: i.wrong,
		isOld: i.of !== o
	};
}
// src/given.ts
var ze = (e) => e.ordered || e.levels.every((e) => typeof e == "number"), Be = (e, t) => {
	let n = e[t.name];
	return n === void 0 ? t.levels : Array.isArray(n) ? t.levels.filter((e) => n.includes(e)) : [n];
}, Ve = (e, t, n) => {
	let { [t]: r, ...i } = e;
	return n === null ? i : {
		...i,
		[t]: n
	};
}, He = (e, t, n) => {
	let { [t.name]: r, ...i } = e, a = t.levels.filter((e) => n.includes(e));
	return a.length === 0 || a.length === t.levels.length ? i : {
		...i,
		[t.name]: a.length === 1 ? a[0] : a
	};
}, Ue = (e, t, n) => {
	let r = Be(e, t);
	return r.length === 1 && r[0] === n ? e : He(e, t, r.includes(n) ? r.filter((e) => e !== n) : [...r, n]);
};
function We(e, t, n) {
	let r = e[t];
	if (!Array.isArray(r)) return `${t} = ${r}`;
	if (!n) return `${t} = ${r.join(" or ")}`;
	let i = r.map((e) => n.levels.indexOf(e)).sort((e, t) => e - t), a = i.every((e, t) => t === 0 || e === i[t - 1] + 1);
	if (ze(n) && a && r.length > 1) return `${t} from ${n.levels[i[0]]} to ${n.levels[i[i.length - 1]]}`;
	let o = n.levels.filter((e) => !r.includes(e));
	return o.length < r.length ? `${t} ≠ ${o.join(", ")}` : `${t} = ${r.join(" or ")}`;
}
// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var Ge = Symbol.for("pv"), Ke = 0;
Array.isArray;
function F(t, n, r, i, a, o) {
	n ||= {};
	var s, c, l = n;
	if ("ref" in l && typeof t != "function") for (c in l = {}, n) c == "ref" ? s = n[c] : l[c] = n[c];
	var u = {
		type: t,
		props: l,
		key: r,
		ref: s,
		__k: null,
		__: null,
		__b: 0,
		__e: null,
		__c: null,
		constructor: Ge,
		__v: --Ke,
		__i: -1,
		__u: 0
	};
	return (a || o) && (u.__source = a, u.__self = o), e.vnode && e.vnode(u), u;
}
// src/bars.tsx
var qe = (e) => e >= .9995 && e < 1 ? "99.9+%" : e > 0 && e < 5e-4 ? "<0.1%" : `${(100 * e).toFixed(1)}%`;
function Je({ variable: e, given: t, change: n }) {
	let { name: r, levels: i } = e, a = Be(t, e), o = i.indexOf(a[0]), s = i.indexOf(a[a.length - 1]), c = (e, t, n) => /* @__PURE__ */ F("label", { children: [
		e,
		" ",
		/* @__PURE__ */ F("select", {
			"aria-label": `${r} ${e}`,
			value: t,
			onChange: (e) => n(+e.target.value),
			children: i.map((e, t) => /* @__PURE__ */ F("option", {
				value: t,
				children: String(e)
			}))
		})
	] }), l = (r, a) => n(He(t, e, i.slice(Math.min(r, a), Math.max(r, a) + 1)));
	return /* @__PURE__ */ F("div", {
		class: "range",
		children: [c("from", o, (e) => l(e, Math.max(e, s))), c("to", s, (e) => l(Math.min(o, e), e))]
	});
}
function Ye(e) {
	let { variable: t, given: n, change: r } = e, { name: i, levels: a, now: o, prior: s } = t, c = n[i], l = Be(n, t);
	return /* @__PURE__ */ F(y, { children: [/* @__PURE__ */ F("div", {
		class: "levels",
		role: "group",
		"aria-label": `levels of ${i}`,
		children: a.map((e, u) => {
			let d = !Array.isArray(c) && c === e, f = !l.includes(e);
			return /* @__PURE__ */ F("div", {
				class: f && Array.isArray(c) ? "choice out" : "choice",
				children: [/* @__PURE__ */ F("button", {
					type: "button",
					class: "level",
					"aria-pressed": d,
					title: `${i} = ${e}: ${qe(o[u])}, ${qe(s[u])} when nothing is known`,
					onClick: () => r(Ve(n, i, d ? null : e)),
					children: [
						/* @__PURE__ */ F("span", {
							class: "fill",
							style: { width: `${100 * o[u]}%` }
						}),
						/* @__PURE__ */ F("span", {
							class: "was",
							style: { left: `${100 * s[u]}%` }
						}),
						/* @__PURE__ */ F("span", {
							class: "text",
							children: String(e)
						}),
						/* @__PURE__ */ F("span", {
							class: "number",
							children: qe(o[u])
						})
					]
				}), a.length > 2 && /* @__PURE__ */ F("button", {
					type: "button",
					class: "not",
					"aria-pressed": f && c !== void 0,
					"aria-label": `exclude ${i} = ${e}`,
					title: f && c !== void 0 ? "allow this level" : "exclude this level",
					onClick: () => r(Ue(n, t, e)),
					children: "≠"
				})]
			});
		})
	}), ze(t) && a.length > 3 && /* @__PURE__ */ F(Je, {
		variable: t,
		given: n,
		change: r
	})] });
}
var Xe = (e, t) => `${t ? "~" : ""}${e.toLocaleString("en", {
	minimumFractionDigits: 1,
	maximumFractionDigits: 1
})}`;
// src/state.ts
function Ze(e) {
	let [t, n] = P({});
	return e ?? {
		view: t,
		set: (e) => n((t) => ({
			...t,
			...e
		}))
	};
}
function Qe(e) {
	let t = De(!1);
	return {
		to: (n) => {
			e(n, t.current), t.current = !0;
		},
		end: () => {
			t.current = !1;
		}
	};
}
var $e = {
	model: "",
	tab: "",
	given: {},
	view: {}
};
function et(e, t) {
	let n = t.model === void 0 || t.model === e.model || e.model === "" ? e : {
		...$e,
		tab: e.tab
	}, r = Object.fromEntries(Object.entries({
		...n.view,
		...t.view
	}).filter(([, e]) => e !== ""));
	return {
		...n,
		...t,
		view: r
	};
}
var tt = class {
	entries;
	at = 0;
	listeners = /* @__PURE__ */ new Set();
	travel = (e) => this.go(this.at + e);
	constructor(e = {}) {
		this.entries = [{
			id: "0",
			page: {
				...$e,
				...e
			}
		}];
	}
	get page() {
		return this.entries[this.at].page;
	}
	get id() {
		return this.entries[this.at].id;
	}
	get canUndo() {
		return this.at > 0;
	}
	get canRedo() {
		return this.at + 1 < this.entries.length;
	}
	change(e, t = !1) {
		let n = et(this.page, e);
		JSON.stringify(n) !== JSON.stringify(this.page) && (t ? this.entries[this.at] = {
			id: this.id,
			page: n
		} : (this.entries = [...this.entries.slice(0, this.at + 1), {
			id: `${Date.now()}-${this.at + 1}`,
			page: n
		}], this.at += 1), this.tell(!t));
	}
	undo() {
		this.canUndo && this.travel(-1);
	}
	redo() {
		this.canRedo && this.travel(1);
	}
	reset() {
		let { model: e, tab: t } = this.page, n = Object.fromEntries(Object.keys(this.page.view).map((e) => [e, ""]));
		this.change({
			model: e,
			tab: t,
			given: {},
			view: n
		});
	}
	show(e) {
		let t = this.entries.findIndex((t) => t.id === e);
		return t >= 0 && this.go(t), t >= 0;
	}
	listen(e) {
		return this.listeners.add(e), () => {
			this.listeners.delete(e);
		};
	}
	go(e) {
		this.at = Math.min(Math.max(e, 0), this.entries.length - 1), this.tell(!1);
	}
	tell(e) {
		for (let t of this.listeners) t(e);
	}
};
function nt(e) {
	let [t, n] = P(e.page);
	return Te(() => (n(e.page), e.listen(() => n(e.page))), [e]), t;
}
// src/evidence.tsx
var rt = 200;
function it(e) {
	let { ask: t, model: n, given: r, change: i, look: a, version: o, seen: s, failed: c } = e, { view: l, set: u } = Ze(e.settings), [d, f] = P(""), p = l.order === "changed" ? "changed" : "table", { answer: m, wrong: h } = Re(() => t.consequences(n, r, {
		search: d,
		order: p,
		limit: rt
	}), [
		n,
		r,
		d,
		p,
		o
	], c, d ? 150 : 0), g = m?.variables ?? [], _ = m?.total ?? 0, v = De(/* @__PURE__ */ new Map());
	for (let e of g) v.current.set(e.name, e);
	Te(() => f(""), [n]), Te(() => {
		m && s(m);
	}, [m]);
	let b = Object.keys(r);
	return /* @__PURE__ */ F(y, { children: [
		/* @__PURE__ */ F("div", {
			class: "row find",
			children: [/* @__PURE__ */ F("label", {
				class: "search",
				children: ["Find a variable ", /* @__PURE__ */ F("input", {
					type: "search",
					value: d,
					onInput: (e) => f(e.target.value)
				})]
			}), /* @__PURE__ */ F("label", {
				class: "search",
				children: ["Order ", /* @__PURE__ */ F("select", {
					value: p,
					onChange: (e) => u({ order: e.target.value === "changed" ? "changed" : "" }),
					children: [/* @__PURE__ */ F("option", {
						value: "table",
						children: "table"
					}), /* @__PURE__ */ F("option", {
						value: "changed",
						children: "most changed"
					})]
				})]
			})]
		}),
		/* @__PURE__ */ F("div", {
			class: "given",
			"aria-live": "polite",
			children: b.length === 0 ? /* @__PURE__ */ F("p", { children: "Press a level to clamp it: every bar then shows the probability given what is known, exact under the model. The thin line marks the probability when nothing is known. ≠ excludes a level." }) : /* @__PURE__ */ F(y, { children: [
				b.map((e) => /* @__PURE__ */ F("button", {
					type: "button",
					class: "chip",
					onClick: () => i(Ve(r, e, null)),
					title: `forget ${e}`,
					children: [We(r, e, v.current.get(e)), " ×"]
				})),
				/* @__PURE__ */ F("button", {
					type: "button",
					onClick: () => i({}),
					children: "Forget all"
				}),
				m && m.log_prob !== null && /* @__PURE__ */ F("p", { children: ["Probability of what is known: ", Math.exp(m.log_prob).toPrecision(3)] })
			] })
		}),
		h && /* @__PURE__ */ F("pre", {
			class: "wrong",
			role: "alert",
			children: h
		}),
		/* @__PURE__ */ F("ul", {
			class: "variables",
			children: g.map((e) => /* @__PURE__ */ F("li", { children: [/* @__PURE__ */ F("div", {
				class: "name",
				children: [
					/* @__PURE__ */ F("span", { children: e.name }),
					b.length > 0 && !b.includes(e.name) && e.moved >= 5e-4 && /* @__PURE__ */ F("span", {
						class: "moved",
						title: "half the sum of the changes of its probabilities",
						children: [(100 * e.moved).toFixed(1), " points"]
					}),
					a && /* @__PURE__ */ F("button", {
						type: "button",
						class: "small",
						onClick: () => a(e.name),
						"aria-label": `show the neighbours of ${e.name} in the graph`,
						children: "neighbours"
					})
				]
			}), /* @__PURE__ */ F(Ye, {
				variable: e,
				given: r,
				change: i
			})] }, e.name))
		}),
		_ > g.length && /* @__PURE__ */ F("p", { children: [
			"The first ",
			g.length,
			" of ",
			_.toLocaleString("en"),
			"; search for others."
		] })
	] });
}
// node_modules/d3-selection/dist/d3-selection.mjs
var at = "http://www.w3.org/1999/xhtml", ot = {
	svg: "http://www.w3.org/2000/svg",
	xhtml: at,
	xlink: "http://www.w3.org/1999/xlink",
	xml: "http://www.w3.org/XML/1998/namespace",
	xmlns: "http://www.w3.org/2000/xmlns/"
};
function st(e) {
	var t = e += "", n = t.indexOf(":");
	return n >= 0 && (t = e.slice(0, n)) !== "xmlns" && (e = e.slice(n + 1)), ot.hasOwnProperty(t) ? {
		space: ot[t],
		local: e
	} : e;
}
function ct(e) {
	return function() {
		var t = this.ownerDocument, n = this.namespaceURI;
		return n === at && t.documentElement.namespaceURI === at ? t.createElement(e) : t.createElementNS(n, e);
	};
}
function lt(e) {
	return function() {
		return this.ownerDocument.createElementNS(e.space, e.local);
	};
}
function ut(e) {
	var t = st(e);
	return (t.local ? lt : ct)(t);
}
function dt() {}
function ft(e) {
	return e == null ? dt : function() {
		return this.querySelector(e);
	};
}
function pt(e) {
	typeof e != "function" && (e = ft(e));
	for (var t = this._groups, n = t.length, r = Array(n), i = 0; i < n; ++i) for (var a = t[i], o = a.length, s = r[i] = Array(o), c, l, u = 0; u < o; ++u) (c = a[u]) && (l = e.call(c, c.__data__, u, a)) && ("__data__" in c && (l.__data__ = c.__data__), s[u] = l);
	return new I(r, this._parents);
}
function mt(e) {
	return e == null ? [] : Array.isArray(e) ? e : Array.from(e);
}
function ht() {
	return [];
}
function gt(e) {
	return e == null ? ht : function() {
		return this.querySelectorAll(e);
	};
}
function _t(e) {
	return function() {
		return mt(e.apply(this, arguments));
	};
}
function vt(e) {
	e = typeof e == "function" ? _t(e) : gt(e);
	for (var t = this._groups, n = t.length, r = [], i = [], a = 0; a < n; ++a) for (var o = t[a], s = o.length, c, l = 0; l < s; ++l) (c = o[l]) && (r.push(e.call(c, c.__data__, l, o)), i.push(c));
	return new I(r, i);
}
function yt(e) {
	return function() {
		return this.matches(e);
	};
}
function bt(e) {
	return function(t) {
		return t.matches(e);
	};
}
var xt = Array.prototype.find;
function St(e) {
	return function() {
		return xt.call(this.children, e);
	};
}
function Ct() {
	return this.firstElementChild;
}
function wt(e) {
	return this.select(e == null ? Ct : St(typeof e == "function" ? e : bt(e)));
}
var Tt = Array.prototype.filter;
function Et() {
	return Array.from(this.children);
}
function Dt(e) {
	return function() {
		return Tt.call(this.children, e);
	};
}
function Ot(e) {
	return this.selectAll(e == null ? Et : Dt(typeof e == "function" ? e : bt(e)));
}
function kt(e) {
	typeof e != "function" && (e = yt(e));
	for (var t = this._groups, n = t.length, r = Array(n), i = 0; i < n; ++i) for (var a = t[i], o = a.length, s = r[i] = [], c, l = 0; l < o; ++l) (c = a[l]) && e.call(c, c.__data__, l, a) && s.push(c);
	return new I(r, this._parents);
}
function At(e) {
	return Array(e.length);
}
function jt() {
	return new I(this._enter || this._groups.map(At), this._parents);
}
function Mt(e, t) {
	this.ownerDocument = e.ownerDocument, this.namespaceURI = e.namespaceURI, this._next = null, this._parent = e, this.__data__ = t;
}
Mt.prototype = {
	constructor: Mt,
	appendChild: function(e) {
		return this._parent.insertBefore(e, this._next);
	},
	insertBefore: function(e, t) {
		return this._parent.insertBefore(e, t);
	},
	querySelector: function(e) {
		return this._parent.querySelector(e);
	},
	querySelectorAll: function(e) {
		return this._parent.querySelectorAll(e);
	}
};
function Nt(e) {
	return function() {
		return e;
	};
}
function Pt(e, t, n, r, i, a) {
	for (var o = 0, s, c = t.length, l = a.length; o < l; ++o) (s = t[o]) ? (s.__data__ = a[o], r[o] = s) : n[o] = new Mt(e, a[o]);
	for (; o < c; ++o) (s = t[o]) && (i[o] = s);
}
function Ft(e, t, n, r, i, a, o) {
	var s, c, l = /* @__PURE__ */ new Map(), u = t.length, d = a.length, f = Array(u), p;
	for (s = 0; s < u; ++s) (c = t[s]) && (f[s] = p = o.call(c, c.__data__, s, t) + "", l.has(p) ? i[s] = c : l.set(p, c));
	for (s = 0; s < d; ++s) p = o.call(e, a[s], s, a) + "", (c = l.get(p)) ? (r[s] = c, c.__data__ = a[s], l.delete(p)) : n[s] = new Mt(e, a[s]);
	for (s = 0; s < u; ++s) (c = t[s]) && l.get(f[s]) === c && (i[s] = c);
}
function It(e) {
	return e.__data__;
}
function Lt(e, t) {
	if (!arguments.length) return Array.from(this, It);
	var n = t ? Ft : Pt, r = this._parents, i = this._groups;
	typeof e != "function" && (e = Nt(e));
	for (var a = i.length, o = Array(a), s = Array(a), c = Array(a), l = 0; l < a; ++l) {
		var u = r[l], d = i[l], f = d.length, p = Rt(e.call(u, u && u.__data__, l, r)), m = p.length, h = s[l] = Array(m), g = o[l] = Array(m);
		n(u, d, h, g, c[l] = Array(f), p, t);
		for (var _ = 0, v = 0, y, b; _ < m; ++_) if (y = h[_]) {
			for (_ >= v && (v = _ + 1); !(b = g[v]) && ++v < m;);
			y._next = b || null;
		}
	}
	return o = new I(o, r), o._enter = s, o._exit = c, o;
}
function Rt(e) {
	return typeof e == "object" && "length" in e ? e : Array.from(e);
}
function zt() {
	return new I(this._exit || this._groups.map(At), this._parents);
}
function Bt(e, t, n) {
	var r = this.enter(), i = this, a = this.exit();
	return typeof e == "function" ? (r = e(r), r &&= r.selection()) : r = r.append(e + ""), t != null && (i = t(i), i &&= i.selection()), n == null ? a.remove() : n(a), r && i ? r.merge(i).order() : i;
}
function Vt(e) {
	for (var t = e.selection ? e.selection() : e, n = this._groups, r = t._groups, i = n.length, a = r.length, o = Math.min(i, a), s = Array(i), c = 0; c < o; ++c) for (var l = n[c], u = r[c], d = l.length, f = s[c] = Array(d), p, m = 0; m < d; ++m) (p = l[m] || u[m]) && (f[m] = p);
	for (; c < i; ++c) s[c] = n[c];
	return new I(s, this._parents);
}
function Ht() {
	for (var e = this._groups, t = -1, n = e.length; ++t < n;) for (var r = e[t], i = r.length - 1, a = r[i], o; --i >= 0;) (o = r[i]) && (a && o.compareDocumentPosition(a) ^ 4 && a.parentNode.insertBefore(o, a), a = o);
	return this;
}
function Ut(e) {
	e ||= Wt;
	function t(t, n) {
		return t && n ? e(t.__data__, n.__data__) : !t - !n;
	}
	for (var n = this._groups, r = n.length, i = Array(r), a = 0; a < r; ++a) {
		for (var o = n[a], s = o.length, c = i[a] = Array(s), l, u = 0; u < s; ++u) (l = o[u]) && (c[u] = l);
		c.sort(t);
	}
	return new I(i, this._parents).order();
}
function Wt(e, t) {
	return e < t ? -1 : e > t ? 1 : e >= t ? 0 : NaN;
}
function Gt() {
	var e = arguments[0];
	return arguments[0] = this, e.apply(null, arguments), this;
}
function Kt() {
	return Array.from(this);
}
function qt() {
	for (var e = this._groups, t = 0, n = e.length; t < n; ++t) for (var r = e[t], i = 0, a = r.length; i < a; ++i) {
		var o = r[i];
		if (o) return o;
	}
	return null;
}
function Jt() {
	let e = 0;
	for (let t of this) ++e;
	return e;
}
function Yt() {
	return !this.node();
}
function Xt(e) {
	for (var t = this._groups, n = 0, r = t.length; n < r; ++n) for (var i = t[n], a = 0, o = i.length, s; a < o; ++a) (s = i[a]) && e.call(s, s.__data__, a, i);
	return this;
}
function Zt(e) {
	return function() {
		this.removeAttribute(e);
	};
}
function Qt(e) {
	return function() {
		this.removeAttributeNS(e.space, e.local);
	};
}
function $t(e, t) {
	return function() {
		this.setAttribute(e, t);
	};
}
function en(e, t) {
	return function() {
		this.setAttributeNS(e.space, e.local, t);
	};
}
function tn(e, t) {
	return function() {
		var n = t.apply(this, arguments);
		n == null ? this.removeAttribute(e) : this.setAttribute(e, n);
	};
}
function nn(e, t) {
	return function() {
		var n = t.apply(this, arguments);
		n == null ? this.removeAttributeNS(e.space, e.local) : this.setAttributeNS(e.space, e.local, n);
	};
}
function rn(e, t) {
	var n = st(e);
	if (arguments.length < 2) {
		var r = this.node();
		return n.local ? r.getAttributeNS(n.space, n.local) : r.getAttribute(n);
	}
	return this.each((t == null ? n.local ? Qt : Zt : typeof t == "function" ? n.local ? nn : tn : n.local ? en : $t)(n, t));
}
function an(e) {
	return e.ownerDocument && e.ownerDocument.defaultView || e.document && e || e.defaultView;
}
function on(e) {
	return function() {
		this.style.removeProperty(e);
	};
}
function sn(e, t, n) {
	return function() {
		this.style.setProperty(e, t, n);
	};
}
function cn(e, t, n) {
	return function() {
		var r = t.apply(this, arguments);
		r == null ? this.style.removeProperty(e) : this.style.setProperty(e, r, n);
	};
}
function ln(e, t, n) {
	return arguments.length > 1 ? this.each((t == null ? on : typeof t == "function" ? cn : sn)(e, t, n ?? "")) : un(this.node(), e);
}
function un(e, t) {
	return e.style.getPropertyValue(t) || an(e).getComputedStyle(e, null).getPropertyValue(t);
}
function dn(e) {
	return function() {
		delete this[e];
	};
}
function fn(e, t) {
	return function() {
		this[e] = t;
	};
}
function pn(e, t) {
	return function() {
		var n = t.apply(this, arguments);
		n == null ? delete this[e] : this[e] = n;
	};
}
function mn(e, t) {
	return arguments.length > 1 ? this.each((t == null ? dn : typeof t == "function" ? pn : fn)(e, t)) : this.node()[e];
}
function hn(e) {
	return e.trim().split(/^|\s+/);
}
function gn(e) {
	return e.classList || new _n(e);
}
function _n(e) {
	this._node = e, this._names = hn(e.getAttribute("class") || "");
}
_n.prototype = {
	add: function(e) {
		this._names.indexOf(e) < 0 && (this._names.push(e), this._node.setAttribute("class", this._names.join(" ")));
	},
	remove: function(e) {
		var t = this._names.indexOf(e);
		t >= 0 && (this._names.splice(t, 1), this._node.setAttribute("class", this._names.join(" ")));
	},
	contains: function(e) {
		return this._names.indexOf(e) >= 0;
	}
};
function vn(e, t) {
	for (var n = gn(e), r = -1, i = t.length; ++r < i;) n.add(t[r]);
}
function yn(e, t) {
	for (var n = gn(e), r = -1, i = t.length; ++r < i;) n.remove(t[r]);
}
function bn(e) {
	return function() {
		vn(this, e);
	};
}
function xn(e) {
	return function() {
		yn(this, e);
	};
}
function Sn(e, t) {
	return function() {
		(t.apply(this, arguments) ? vn : yn)(this, e);
	};
}
function Cn(e, t) {
	var n = hn(e + "");
	if (arguments.length < 2) {
		for (var r = gn(this.node()), i = -1, a = n.length; ++i < a;) if (!r.contains(n[i])) return !1;
		return !0;
	}
	return this.each((typeof t == "function" ? Sn : t ? bn : xn)(n, t));
}
function wn() {
	this.textContent = "";
}
function Tn(e) {
	return function() {
		this.textContent = e;
	};
}
function En(e) {
	return function() {
		var t = e.apply(this, arguments);
		this.textContent = t ?? "";
	};
}
function Dn(e) {
	return arguments.length ? this.each(e == null ? wn : (typeof e == "function" ? En : Tn)(e)) : this.node().textContent;
}
function On() {
	this.innerHTML = "";
}
function kn(e) {
	return function() {
		this.innerHTML = e;
	};
}
function An(e) {
	return function() {
		var t = e.apply(this, arguments);
		this.innerHTML = t ?? "";
	};
}
function jn(e) {
	return arguments.length ? this.each(e == null ? On : (typeof e == "function" ? An : kn)(e)) : this.node().innerHTML;
}
function Mn() {
	this.nextSibling && this.parentNode.appendChild(this);
}
function Nn() {
	return this.each(Mn);
}
function Pn() {
	this.previousSibling && this.parentNode.insertBefore(this, this.parentNode.firstChild);
}
function Fn() {
	return this.each(Pn);
}
function In(e) {
	var t = typeof e == "function" ? e : ut(e);
	return this.select(function() {
		return this.appendChild(t.apply(this, arguments));
	});
}
function Ln() {
	return null;
}
function Rn(e, t) {
	var n = typeof e == "function" ? e : ut(e), r = t == null ? Ln : typeof t == "function" ? t : ft(t);
	return this.select(function() {
		return this.insertBefore(n.apply(this, arguments), r.apply(this, arguments) || null);
	});
}
function zn() {
	var e = this.parentNode;
	e && e.removeChild(this);
}
function Bn() {
	return this.each(zn);
}
function Vn() {
	var e = this.cloneNode(!1), t = this.parentNode;
	return t ? t.insertBefore(e, this.nextSibling) : e;
}
function Hn() {
	var e = this.cloneNode(!0), t = this.parentNode;
	return t ? t.insertBefore(e, this.nextSibling) : e;
}
function Un(e) {
	return this.select(e ? Hn : Vn);
}
function Wn(e) {
	return arguments.length ? this.property("__data__", e) : this.node().__data__;
}
function Gn(e) {
	return function(t) {
		e.call(this, t, this.__data__);
	};
}
function Kn(e) {
	return e.trim().split(/^|\s+/).map(function(e) {
		var t = "", n = e.indexOf(".");
		return n >= 0 && (t = e.slice(n + 1), e = e.slice(0, n)), {
			type: e,
			name: t
		};
	});
}
function qn(e) {
	return function() {
		var t = this.__on;
		if (t) {
			for (var n = 0, r = -1, i = t.length, a; n < i; ++n) a = t[n], (!e.type || a.type === e.type) && a.name === e.name ? this.removeEventListener(a.type, a.listener, a.options) : t[++r] = a;
			++r ? t.length = r : delete this.__on;
		}
	};
}
function Jn(e, t, n) {
	return function() {
		var r = this.__on, i, a = Gn(t);
		if (r) {
			for (var o = 0, s = r.length; o < s; ++o) if ((i = r[o]).type === e.type && i.name === e.name) {
				this.removeEventListener(i.type, i.listener, i.options), this.addEventListener(i.type, i.listener = a, i.options = n), i.value = t;
				return;
			}
		}
		this.addEventListener(e.type, a, n), i = {
			type: e.type,
			name: e.name,
			value: t,
			listener: a,
			options: n
		}, r ? r.push(i) : this.__on = [i];
	};
}
function Yn(e, t, n) {
	var r = Kn(e + ""), i, a = r.length, o;
	if (arguments.length < 2) {
		var s = this.node().__on;
		if (s) {
			for (var c = 0, l = s.length, u; c < l; ++c) for (i = 0, u = s[c]; i < a; ++i) if ((o = r[i]).type === u.type && o.name === u.name) return u.value;
		}
	} else {
		for (s = t ? Jn : qn, i = 0; i < a; ++i) this.each(s(r[i], t, n));
		return this;
	}
}
function Xn(e, t, n) {
	var r = an(e), i = r.CustomEvent;
	typeof i == "function" ? i = new i(t, n) : (i = r.document.createEvent("Event"), n ? (i.initEvent(t, n.bubbles, n.cancelable), i.detail = n.detail) : i.initEvent(t, !1, !1)), e.dispatchEvent(i);
}
function Zn(e, t) {
	return function() {
		return Xn(this, e, t);
	};
}
function Qn(e, t) {
	return function() {
		return Xn(this, e, t.apply(this, arguments));
	};
}
function $n(e, t) {
	return this.each((typeof t == "function" ? Qn : Zn)(e, t));
}
function* er() {
	for (var e = this._groups, t = 0, n = e.length; t < n; ++t) for (var r = e[t], i = 0, a = r.length, o; i < a; ++i) (o = r[i]) && (yield o);
}
var tr = [null];
function I(e, t) {
	this._groups = e, this._parents = t;
}
function nr() {
	return new I([[document.documentElement]], tr);
}
function rr() {
	return this;
}
I.prototype = nr.prototype = {
	constructor: I,
	select: pt,
	selectAll: vt,
	selectChild: wt,
	selectChildren: Ot,
	filter: kt,
	data: Lt,
	enter: jt,
	exit: zt,
	join: Bt,
	merge: Vt,
	selection: rr,
	order: Ht,
	sort: Ut,
	call: Gt,
	nodes: Kt,
	node: qt,
	size: Jt,
	empty: Yt,
	each: Xt,
	attr: rn,
	style: ln,
	property: mn,
	classed: Cn,
	text: Dn,
	html: jn,
	raise: Nn,
	lower: Fn,
	append: In,
	insert: Rn,
	remove: Bn,
	clone: Un,
	datum: Wn,
	on: Yn,
	dispatch: $n,
	[Symbol.iterator]: er
};
function L(e) {
	return typeof e == "string" ? new I([[document.querySelector(e)]], [document.documentElement]) : new I([[e]], tr);
}
var ir = 0;
function ar() {
	return new or();
}
function or() {
	this._ = "@" + (++ir).toString(36);
}
or.prototype = ar.prototype = {
	constructor: or,
	get: function(e) {
		for (var t = this._; !(t in e);) if (!(e = e.parentNode)) return;
		return e[t];
	},
	set: function(e, t) {
		return e[this._] = t;
	},
	remove: function(e) {
		return this._ in e && delete e[this._];
	},
	toString: function() {
		return this._;
	}
};
function sr(e) {
	let t;
	for (; t = e.sourceEvent;) e = t;
	return e;
}
function cr(e, t) {
	if (e = sr(e), t === void 0 && (t = e.currentTarget), t) {
		var n = t.ownerSVGElement || t;
		if (n.createSVGPoint) {
			var r = n.createSVGPoint();
			return r.x = e.clientX, r.y = e.clientY, r = r.matrixTransform(t.getScreenCTM().inverse()), [r.x, r.y];
		}
		if (t.getBoundingClientRect) {
			var i = t.getBoundingClientRect();
			return [e.clientX - i.left - t.clientLeft, e.clientY - i.top - t.clientTop];
		}
	}
	return [e.pageX, e.pageY];
}
// node_modules/d3-dispatch/dist/d3-dispatch.mjs
var lr = { value: () => {} };
function ur() {
	for (var e = 0, t = arguments.length, n = {}, r; e < t; ++e) {
		if (!(r = arguments[e] + "") || r in n || /[\s.]/.test(r)) throw Error("illegal type: " + r);
		n[r] = [];
	}
	return new dr(n);
}
function dr(e) {
	this._ = e;
}
function fr(e, t) {
	return e.trim().split(/^|\s+/).map(function(e) {
		var n = "", r = e.indexOf(".");
		if (r >= 0 && (n = e.slice(r + 1), e = e.slice(0, r)), e && !t.hasOwnProperty(e)) throw Error("unknown type: " + e);
		return {
			type: e,
			name: n
		};
	});
}
dr.prototype = ur.prototype = {
	constructor: dr,
	on: function(e, t) {
		var n = this._, r = fr(e + "", n), i, a = -1, o = r.length;
		if (arguments.length < 2) {
			for (; ++a < o;) if ((i = (e = r[a]).type) && (i = pr(n[i], e.name))) return i;
		} else {
			if (t != null && typeof t != "function") throw Error("invalid callback: " + t);
			for (; ++a < o;) if (i = (e = r[a]).type) n[i] = mr(n[i], e.name, t);
			else if (t == null) for (i in n) n[i] = mr(n[i], e.name, null);
			return this;
		}
	},
	copy: function() {
		var e = {}, t = this._;
		for (var n in t) e[n] = t[n].slice();
		return new dr(e);
	},
	call: function(e, t) {
		if ((i = arguments.length - 2) > 0) for (var n = Array(i), r = 0, i, a; r < i; ++r) n[r] = arguments[r + 2];
		if (!this._.hasOwnProperty(e)) throw Error("unknown type: " + e);
		for (a = this._[e], r = 0, i = a.length; r < i; ++r) a[r].value.apply(t, n);
	},
	apply: function(e, t, n) {
		if (!this._.hasOwnProperty(e)) throw Error("unknown type: " + e);
		for (var r = this._[e], i = 0, a = r.length; i < a; ++i) r[i].value.apply(t, n);
	}
};
function pr(e, t) {
	for (var n = 0, r = e.length, i; n < r; ++n) if ((i = e[n]).name === t) return i.value;
}
function mr(e, t, n) {
	for (var r = 0, i = e.length; r < i; ++r) if (e[r].name === t) {
		e[r] = lr, e = e.slice(0, r).concat(e.slice(r + 1));
		break;
	}
	return n != null && e.push({
		name: t,
		value: n
	}), e;
}
// node_modules/d3-drag/dist/d3-drag.mjs
var hr = {
	capture: !0,
	passive: !1
};
function gr(e) {
	e.preventDefault(), e.stopImmediatePropagation();
}
function _r(e) {
	var t = e.document.documentElement, n = L(e).on("dragstart.drag", gr, hr);
	"onselectstart" in t ? n.on("selectstart.drag", gr, hr) : (t.__noselect = t.style.MozUserSelect, t.style.MozUserSelect = "none");
}
function vr(e, t) {
	var n = e.document.documentElement, r = L(e).on("dragstart.drag", null);
	t && (r.on("click.drag", gr, hr), setTimeout(function() {
		r.on("click.drag", null);
	}, 0)), "onselectstart" in n ? r.on("selectstart.drag", null) : (n.style.MozUserSelect = n.__noselect, delete n.__noselect);
}
function yr(e, { sourceEvent: t, subject: n, target: r, identifier: i, active: a, x: o, y: s, dx: c, dy: l, dispatch: u }) {
	Object.defineProperties(this, {
		type: {
			value: e,
			enumerable: !0,
			configurable: !0
		},
		sourceEvent: {
			value: t,
			enumerable: !0,
			configurable: !0
		},
		subject: {
			value: n,
			enumerable: !0,
			configurable: !0
		},
		target: {
			value: r,
			enumerable: !0,
			configurable: !0
		},
		identifier: {
			value: i,
			enumerable: !0,
			configurable: !0
		},
		active: {
			value: a,
			enumerable: !0,
			configurable: !0
		},
		x: {
			value: o,
			enumerable: !0,
			configurable: !0
		},
		y: {
			value: s,
			enumerable: !0,
			configurable: !0
		},
		dx: {
			value: c,
			enumerable: !0,
			configurable: !0
		},
		dy: {
			value: l,
			enumerable: !0,
			configurable: !0
		},
		_: { value: u }
	});
}
yr.prototype.on = function() {
	var e = this._.on.apply(this._, arguments);
	return e === this._ ? this : e;
};
// node_modules/d3-color/dist/d3-color.mjs
function br(e, t, n) {
	e.prototype = t.prototype = n, n.constructor = e;
}
function xr(e, t) {
	var n = Object.create(e.prototype);
	for (var r in t) n[r] = t[r];
	return n;
}
function R() {}
var Sr = .7, Cr = 1 / Sr, wr = "\\s*([+-]?\\d+)\\s*", Tr = "\\s*([+-]?(?:\\d*\\.)?\\d+(?:[eE][+-]?\\d+)?)\\s*", z = "\\s*([+-]?(?:\\d*\\.)?\\d+(?:[eE][+-]?\\d+)?)%\\s*", Er = /^#([0-9a-f]{3,8})$/, Dr = RegExp(`^rgb\\(${wr},${wr},${wr}\\)$`), Or = RegExp(`^rgb\\(${z},${z},${z}\\)$`), kr = RegExp(`^rgba\\(${wr},${wr},${wr},${Tr}\\)$`), Ar = RegExp(`^rgba\\(${z},${z},${z},${Tr}\\)$`), jr = RegExp(`^hsl\\(${Tr},${z},${z}\\)$`), Mr = RegExp(`^hsla\\(${Tr},${z},${z},${Tr}\\)$`), Nr = {
	aliceblue: 15792383,
	antiquewhite: 16444375,
	aqua: 65535,
	aquamarine: 8388564,
	azure: 15794175,
	beige: 16119260,
	bisque: 16770244,
	black: 0,
	blanchedalmond: 16772045,
	blue: 255,
	blueviolet: 9055202,
	brown: 10824234,
	burlywood: 14596231,
	cadetblue: 6266528,
	chartreuse: 8388352,
	chocolate: 13789470,
	coral: 16744272,
	cornflowerblue: 6591981,
	cornsilk: 16775388,
	crimson: 14423100,
	cyan: 65535,
	darkblue: 139,
	darkcyan: 35723,
	darkgoldenrod: 12092939,
	darkgray: 11119017,
	darkgreen: 25600,
	darkgrey: 11119017,
	darkkhaki: 12433259,
	darkmagenta: 9109643,
	darkolivegreen: 5597999,
	darkorange: 16747520,
	darkorchid: 10040012,
	darkred: 9109504,
	darksalmon: 15308410,
	darkseagreen: 9419919,
	darkslateblue: 4734347,
	darkslategray: 3100495,
	darkslategrey: 3100495,
	darkturquoise: 52945,
	darkviolet: 9699539,
	deeppink: 16716947,
	deepskyblue: 49151,
	dimgray: 6908265,
	dimgrey: 6908265,
	dodgerblue: 2003199,
	firebrick: 11674146,
	floralwhite: 16775920,
	forestgreen: 2263842,
	fuchsia: 16711935,
	gainsboro: 14474460,
	ghostwhite: 16316671,
	gold: 16766720,
	goldenrod: 14329120,
	gray: 8421504,
	green: 32768,
	greenyellow: 11403055,
	grey: 8421504,
	honeydew: 15794160,
	hotpink: 16738740,
	indianred: 13458524,
	indigo: 4915330,
	ivory: 16777200,
	khaki: 15787660,
	lavender: 15132410,
	lavenderblush: 16773365,
	lawngreen: 8190976,
	lemonchiffon: 16775885,
	lightblue: 11393254,
	lightcoral: 15761536,
	lightcyan: 14745599,
	lightgoldenrodyellow: 16448210,
	lightgray: 13882323,
	lightgreen: 9498256,
	lightgrey: 13882323,
	lightpink: 16758465,
	lightsalmon: 16752762,
	lightseagreen: 2142890,
	lightskyblue: 8900346,
	lightslategray: 7833753,
	lightslategrey: 7833753,
	lightsteelblue: 11584734,
	lightyellow: 16777184,
	lime: 65280,
	limegreen: 3329330,
	linen: 16445670,
	magenta: 16711935,
	maroon: 8388608,
	mediumaquamarine: 6737322,
	mediumblue: 205,
	mediumorchid: 12211667,
	mediumpurple: 9662683,
	mediumseagreen: 3978097,
	mediumslateblue: 8087790,
	mediumspringgreen: 64154,
	mediumturquoise: 4772300,
	mediumvioletred: 13047173,
	midnightblue: 1644912,
	mintcream: 16121850,
	mistyrose: 16770273,
	moccasin: 16770229,
	navajowhite: 16768685,
	navy: 128,
	oldlace: 16643558,
	olive: 8421376,
	olivedrab: 7048739,
	orange: 16753920,
	orangered: 16729344,
	orchid: 14315734,
	palegoldenrod: 15657130,
	palegreen: 10025880,
	paleturquoise: 11529966,
	palevioletred: 14381203,
	papayawhip: 16773077,
	peachpuff: 16767673,
	peru: 13468991,
	pink: 16761035,
	plum: 14524637,
	powderblue: 11591910,
	purple: 8388736,
	rebeccapurple: 6697881,
	red: 16711680,
	rosybrown: 12357519,
	royalblue: 4286945,
	saddlebrown: 9127187,
	salmon: 16416882,
	sandybrown: 16032864,
	seagreen: 3050327,
	seashell: 16774638,
	sienna: 10506797,
	silver: 12632256,
	skyblue: 8900331,
	slateblue: 6970061,
	slategray: 7372944,
	slategrey: 7372944,
	snow: 16775930,
	springgreen: 65407,
	steelblue: 4620980,
	tan: 13808780,
	teal: 32896,
	thistle: 14204888,
	tomato: 16737095,
	turquoise: 4251856,
	violet: 15631086,
	wheat: 16113331,
	white: 16777215,
	whitesmoke: 16119285,
	yellow: 16776960,
	yellowgreen: 10145074
};
br(R, Rr, {
	copy(e) {
		return Object.assign(new this.constructor(), this, e);
	},
	displayable() {
		return this.rgb().displayable();
	},
	hex: Pr,
	formatHex: Pr,
	formatHex8: Fr,
	formatHsl: Ir,
	formatRgb: Lr,
	toString: Lr
});
function Pr() {
	return this.rgb().formatHex();
}
function Fr() {
	return this.rgb().formatHex8();
}
function Ir() {
	return Xr(this).formatHsl();
}
function Lr() {
	return this.rgb().formatRgb();
}
function Rr(e) {
	var t, n;
	return e = (e + "").trim().toLowerCase(), (t = Er.exec(e)) ? (n = t[1].length, t = parseInt(t[1], 16), n === 6 ? zr(t) : n === 3 ? new B(t >> 8 & 15 | t >> 4 & 240, t >> 4 & 15 | t & 240, (t & 15) << 4 | t & 15, 1) : n === 8 ? Br(t >> 24 & 255, t >> 16 & 255, t >> 8 & 255, (t & 255) / 255) : n === 4 ? Br(t >> 12 & 15 | t >> 8 & 240, t >> 8 & 15 | t >> 4 & 240, t >> 4 & 15 | t & 240, ((t & 15) << 4 | t & 15) / 255) : null) : (t = Dr.exec(e)) ? new B(t[1], t[2], t[3], 1) : (t = Or.exec(e)) ? new B(t[1] * 255 / 100, t[2] * 255 / 100, t[3] * 255 / 100, 1) : (t = kr.exec(e)) ? Br(t[1], t[2], t[3], t[4]) : (t = Ar.exec(e)) ? Br(t[1] * 255 / 100, t[2] * 255 / 100, t[3] * 255 / 100, t[4]) : (t = jr.exec(e)) ? Yr(t[1], t[2] / 100, t[3] / 100, 1) : (t = Mr.exec(e)) ? Yr(t[1], t[2] / 100, t[3] / 100, t[4]) : Nr.hasOwnProperty(e) ? zr(Nr[e]) : e === "transparent" ? new B(NaN, NaN, NaN, 0) : null;
}
function zr(e) {
	return new B(e >> 16 & 255, e >> 8 & 255, e & 255, 1);
}
function Br(e, t, n, r) {
	return r <= 0 && (e = t = n = NaN), new B(e, t, n, r);
}
function Vr(e) {
	return e instanceof R || (e = Rr(e)), e ? (e = e.rgb(), new B(e.r, e.g, e.b, e.opacity)) : new B();
}
function Hr(e, t, n, r) {
	return arguments.length === 1 ? Vr(e) : new B(e, t, n, r ?? 1);
}
function B(e, t, n, r) {
	this.r = +e, this.g = +t, this.b = +n, this.opacity = +r;
}
br(B, Hr, xr(R, {
	brighter(e) {
		return e = e == null ? Cr : Cr ** +e, new B(this.r * e, this.g * e, this.b * e, this.opacity);
	},
	darker(e) {
		return e = e == null ? Sr : Sr ** +e, new B(this.r * e, this.g * e, this.b * e, this.opacity);
	},
	rgb() {
		return this;
	},
	clamp() {
		return new B(qr(this.r), qr(this.g), qr(this.b), Kr(this.opacity));
	},
	displayable() {
		return -.5 <= this.r && this.r < 255.5 && -.5 <= this.g && this.g < 255.5 && -.5 <= this.b && this.b < 255.5 && 0 <= this.opacity && this.opacity <= 1;
	},
	hex: Ur,
	formatHex: Ur,
	formatHex8: Wr,
	formatRgb: Gr,
	toString: Gr
}));
function Ur() {
	return `#${Jr(this.r)}${Jr(this.g)}${Jr(this.b)}`;
}
function Wr() {
	return `#${Jr(this.r)}${Jr(this.g)}${Jr(this.b)}${Jr((isNaN(this.opacity) ? 1 : this.opacity) * 255)}`;
}
function Gr() {
	let e = Kr(this.opacity);
	return `${e === 1 ? "rgb(" : "rgba("}${qr(this.r)}, ${qr(this.g)}, ${qr(this.b)}${e === 1 ? ")" : `, ${e})`}`;
}
function Kr(e) {
	return isNaN(e) ? 1 : Math.max(0, Math.min(1, e));
}
function qr(e) {
	return Math.max(0, Math.min(255, Math.round(e) || 0));
}
function Jr(e) {
	return e = qr(e), (e < 16 ? "0" : "") + e.toString(16);
}
function Yr(e, t, n, r) {
	return r <= 0 ? e = t = n = NaN : n <= 0 || n >= 1 ? e = t = NaN : t <= 0 && (e = NaN), new V(e, t, n, r);
}
function Xr(e) {
	if (e instanceof V) return new V(e.h, e.s, e.l, e.opacity);
	if (e instanceof R || (e = Rr(e)), !e) return new V();
	if (e instanceof V) return e;
	e = e.rgb();
	var t = e.r / 255, n = e.g / 255, r = e.b / 255, i = Math.min(t, n, r), a = Math.max(t, n, r), o = NaN, s = a - i, c = (a + i) / 2;
	return s ? (o = t === a ? (n - r) / s + (n < r) * 6 : n === a ? (r - t) / s + 2 : (t - n) / s + 4, s /= c < .5 ? a + i : 2 - a - i, o *= 60) : s = c > 0 && c < 1 ? 0 : o, new V(o, s, c, e.opacity);
}
function Zr(e, t, n, r) {
	return arguments.length === 1 ? Xr(e) : new V(e, t, n, r ?? 1);
}
function V(e, t, n, r) {
	this.h = +e, this.s = +t, this.l = +n, this.opacity = +r;
}
br(V, Zr, xr(R, {
	brighter(e) {
		return e = e == null ? Cr : Cr ** +e, new V(this.h, this.s, this.l * e, this.opacity);
	},
	darker(e) {
		return e = e == null ? Sr : Sr ** +e, new V(this.h, this.s, this.l * e, this.opacity);
	},
	rgb() {
		var e = this.h % 360 + (this.h < 0) * 360, t = isNaN(e) || isNaN(this.s) ? 0 : this.s, n = this.l, r = n + (n < .5 ? n : 1 - n) * t, i = 2 * n - r;
		return new B(ei(e >= 240 ? e - 240 : e + 120, i, r), ei(e, i, r), ei(e < 120 ? e + 240 : e - 120, i, r), this.opacity);
	},
	clamp() {
		return new V(Qr(this.h), $r(this.s), $r(this.l), Kr(this.opacity));
	},
	displayable() {
		return (0 <= this.s && this.s <= 1 || isNaN(this.s)) && 0 <= this.l && this.l <= 1 && 0 <= this.opacity && this.opacity <= 1;
	},
	formatHsl() {
		let e = Kr(this.opacity);
		return `${e === 1 ? "hsl(" : "hsla("}${Qr(this.h)}, ${$r(this.s) * 100}%, ${$r(this.l) * 100}%${e === 1 ? ")" : `, ${e})`}`;
	}
}));
function Qr(e) {
	return e = (e || 0) % 360, e < 0 ? e + 360 : e;
}
function $r(e) {
	return Math.max(0, Math.min(1, e || 0));
}
function ei(e, t, n) {
	return (e < 60 ? t + (n - t) * e / 60 : e < 180 ? n : e < 240 ? t + (n - t) * (240 - e) / 60 : t) * 255;
}
var ti = Math.PI / 180, ni = 180 / Math.PI, ri = 18, ii = .96422, ai = 1, oi = .82521, si = 4 / 29, ci = 6 / 29, li = 3 * ci * ci, ui = ci * ci * ci;
function di(e) {
	if (e instanceof H) return new H(e.l, e.a, e.b, e.opacity);
	if (e instanceof U) return yi(e);
	e instanceof B || (e = Vr(e));
	var t = gi(e.r), n = gi(e.g), r = gi(e.b), i = pi((.2225045 * t + .7168786 * n + .0606169 * r) / ai), a, o;
	return t === n && n === r ? a = o = i : (a = pi((.4360747 * t + .3850649 * n + .1430804 * r) / ii), o = pi((.0139322 * t + .0971045 * n + .7141733 * r) / oi)), new H(116 * i - 16, 500 * (a - i), 200 * (i - o), e.opacity);
}
function fi(e, t, n, r) {
	return arguments.length === 1 ? di(e) : new H(e, t, n, r ?? 1);
}
function H(e, t, n, r) {
	this.l = +e, this.a = +t, this.b = +n, this.opacity = +r;
}
br(H, fi, xr(R, {
	brighter(e) {
		return new H(this.l + ri * (e ?? 1), this.a, this.b, this.opacity);
	},
	darker(e) {
		return new H(this.l - ri * (e ?? 1), this.a, this.b, this.opacity);
	},
	rgb() {
		var e = (this.l + 16) / 116, t = isNaN(this.a) ? e : e + this.a / 500, n = isNaN(this.b) ? e : e - this.b / 200;
		return t = ii * mi(t), e = ai * mi(e), n = oi * mi(n), new B(hi(3.1338561 * t - 1.6168667 * e - .4906146 * n), hi(-.9787684 * t + 1.9161415 * e + .033454 * n), hi(.0719453 * t - .2289914 * e + 1.4052427 * n), this.opacity);
	}
}));
function pi(e) {
	return e > ui ? e ** (1 / 3) : e / li + si;
}
function mi(e) {
	return e > ci ? e * e * e : li * (e - si);
}
function hi(e) {
	return 255 * (e <= .0031308 ? 12.92 * e : 1.055 * e ** (1 / 2.4) - .055);
}
function gi(e) {
	return (e /= 255) <= .04045 ? e / 12.92 : ((e + .055) / 1.055) ** 2.4;
}
function _i(e) {
	if (e instanceof U) return new U(e.h, e.c, e.l, e.opacity);
	if (e instanceof H || (e = di(e)), e.a === 0 && e.b === 0) return new U(NaN, 0 < e.l && e.l < 100 ? 0 : NaN, e.l, e.opacity);
	var t = Math.atan2(e.b, e.a) * ni;
	return new U(t < 0 ? t + 360 : t, Math.sqrt(e.a * e.a + e.b * e.b), e.l, e.opacity);
}
function vi(e, t, n, r) {
	return arguments.length === 1 ? _i(e) : new U(e, t, n, r ?? 1);
}
function U(e, t, n, r) {
	this.h = +e, this.c = +t, this.l = +n, this.opacity = +r;
}
function yi(e) {
	if (isNaN(e.h)) return new H(e.l, 0, 0, e.opacity);
	var t = e.h * ti;
	return new H(e.l, Math.cos(t) * e.c, Math.sin(t) * e.c, e.opacity);
}
br(U, vi, xr(R, {
	brighter(e) {
		return new U(this.h, this.c, this.l + ri * (e ?? 1), this.opacity);
	},
	darker(e) {
		return new U(this.h, this.c, this.l - ri * (e ?? 1), this.opacity);
	},
	rgb() {
		return yi(this).rgb();
	}
}));
var bi = -.14861, xi = 1.78277, Si = -.29227, Ci = -.90649, wi = 1.97294, Ti = wi * Ci, Ei = wi * xi, Di = xi * Si - Ci * bi;
function Oi(e) {
	if (e instanceof Ai) return new Ai(e.h, e.s, e.l, e.opacity);
	e instanceof B || (e = Vr(e));
	var t = e.r / 255, n = e.g / 255, r = e.b / 255, i = (Di * r + Ti * t - Ei * n) / (Di + Ti - Ei), a = r - i, o = (wi * (n - i) - Si * a) / Ci, s = Math.sqrt(o * o + a * a) / (wi * i * (1 - i)), c = s ? Math.atan2(o, a) * ni - 120 : NaN;
	return new Ai(c < 0 ? c + 360 : c, s, i, e.opacity);
}
function ki(e, t, n, r) {
	return arguments.length === 1 ? Oi(e) : new Ai(e, t, n, r ?? 1);
}
function Ai(e, t, n, r) {
	this.h = +e, this.s = +t, this.l = +n, this.opacity = +r;
}
br(Ai, ki, xr(R, {
	brighter(e) {
		return e = e == null ? Cr : Cr ** +e, new Ai(this.h, this.s, this.l * e, this.opacity);
	},
	darker(e) {
		return e = e == null ? Sr : Sr ** +e, new Ai(this.h, this.s, this.l * e, this.opacity);
	},
	rgb() {
		var e = isNaN(this.h) ? 0 : (this.h + 120) * ti, t = +this.l, n = isNaN(this.s) ? 0 : this.s * t * (1 - t), r = Math.cos(e), i = Math.sin(e);
		return new B(255 * (t + n * (bi * r + xi * i)), 255 * (t + n * (Si * r + Ci * i)), 255 * (t + wi * r * n), this.opacity);
	}
}));
var ji = (e) => () => e;
function Mi(e, t) {
	return function(n) {
		return e + n * t;
	};
}
function Ni(e, t, n) {
	return e **= +n, t = t ** +n - e, n = 1 / n, function(r) {
		return (e + r * t) ** +n;
	};
}
function Pi(e, t) {
	var n = t - e;
	return n ? Mi(e, n > 180 || n < -180 ? n - 360 * Math.round(n / 360) : n) : ji(isNaN(e) ? t : e);
}
function Fi(e) {
	return (e = +e) == 1 ? Ii : function(t, n) {
		return n - t ? Ni(t, n, e) : ji(isNaN(t) ? n : t);
	};
}
function Ii(e, t) {
	var n = t - e;
	return n ? Mi(e, n) : ji(isNaN(e) ? t : e);
}
var Li = (function e(t) {
	var n = Fi(t);
	function r(e, t) {
		var r = n((e = Hr(e)).r, (t = Hr(t)).r), i = n(e.g, t.g), a = n(e.b, t.b), o = Ii(e.opacity, t.opacity);
		return function(t) {
			return e.r = r(t), e.g = i(t), e.b = a(t), e.opacity = o(t), e + "";
		};
	}
	return r.gamma = e, r;
})(1);
function W(e, t) {
	return e = +e, t = +t, function(n) {
		return e * (1 - n) + t * n;
	};
}
var Ri = /[-+]?(?:\d+\.?\d*|\.?\d+)(?:[eE][-+]?\d+)?/g, zi = new RegExp(Ri.source, "g");
function Bi(e) {
	return function() {
		return e;
	};
}
function Vi(e) {
	return function(t) {
		return e(t) + "";
	};
}
function Hi(e, t) {
	var n = Ri.lastIndex = zi.lastIndex = 0, r, i, a, o = -1, s = [], c = [];
	for (e += "", t += ""; (r = Ri.exec(e)) && (i = zi.exec(t));) (a = i.index) > n && (a = t.slice(n, a), s[o] ? s[o] += a : s[++o] = a), (r = r[0]) === (i = i[0]) ? s[o] ? s[o] += i : s[++o] = i : (s[++o] = null, c.push({
		i: o,
		x: W(r, i)
	})), n = zi.lastIndex;
	return n < t.length && (a = t.slice(n), s[o] ? s[o] += a : s[++o] = a), s.length < 2 ? c[0] ? Vi(c[0].x) : Bi(t) : (t = c.length, function(e) {
		for (var n = 0, r; n < t; ++n) s[(r = c[n]).i] = r.x(e);
		return s.join("");
	});
}
var Ui = 180 / Math.PI, Wi = {
	translateX: 0,
	translateY: 0,
	rotate: 0,
	skewX: 0,
	scaleX: 1,
	scaleY: 1
};
function Gi(e, t, n, r, i, a) {
	var o, s, c;
	return (o = Math.sqrt(e * e + t * t)) && (e /= o, t /= o), (c = e * n + t * r) && (n -= e * c, r -= t * c), (s = Math.sqrt(n * n + r * r)) && (n /= s, r /= s, c /= s), e * r < t * n && (e = -e, t = -t, c = -c, o = -o), {
		translateX: i,
		translateY: a,
		rotate: Math.atan2(t, e) * Ui,
		skewX: Math.atan(c) * Ui,
		scaleX: o,
		scaleY: s
	};
}
var Ki;
function qi(e) {
	let t = new (typeof DOMMatrix == "function" ? DOMMatrix : WebKitCSSMatrix)(e + "");
	return t.isIdentity ? Wi : Gi(t.a, t.b, t.c, t.d, t.e, t.f);
}
function Ji(e) {
	return e == null || (Ki ||= document.createElementNS("http://www.w3.org/2000/svg", "g"), Ki.setAttribute("transform", e), !(e = Ki.transform.baseVal.consolidate())) ? Wi : (e = e.matrix, Gi(e.a, e.b, e.c, e.d, e.e, e.f));
}
function Yi(e, t, n, r) {
	function i(e) {
		return e.length ? e.pop() + " " : "";
	}
	function a(e, r, i, a, o, s) {
		if (e !== i || r !== a) {
			var c = o.push("translate(", null, t, null, n);
			s.push({
				i: c - 4,
				x: W(e, i)
			}, {
				i: c - 2,
				x: W(r, a)
			});
		} else (i || a) && o.push("translate(" + i + t + a + n);
	}
	function o(e, t, n, a) {
		e === t ? t && n.push(i(n) + "rotate(" + t + r) : (e - t > 180 ? t += 360 : t - e > 180 && (e += 360), a.push({
			i: n.push(i(n) + "rotate(", null, r) - 2,
			x: W(e, t)
		}));
	}
	function s(e, t, n, a) {
		e === t ? t && n.push(i(n) + "skewX(" + t + r) : a.push({
			i: n.push(i(n) + "skewX(", null, r) - 2,
			x: W(e, t)
		});
	}
	function c(e, t, n, r, a, o) {
		if (e !== n || t !== r) {
			var s = a.push(i(a) + "scale(", null, ",", null, ")");
			o.push({
				i: s - 4,
				x: W(e, n)
			}, {
				i: s - 2,
				x: W(t, r)
			});
		} else (n !== 1 || r !== 1) && a.push(i(a) + "scale(" + n + "," + r + ")");
	}
	return function(t, n) {
		var r = [], i = [];
		return t = e(t), n = e(n), a(t.translateX, t.translateY, n.translateX, n.translateY, r, i), o(t.rotate, n.rotate, r, i), s(t.skewX, n.skewX, r, i), c(t.scaleX, t.scaleY, n.scaleX, n.scaleY, r, i), t = n = null, function(e) {
			for (var t = -1, n = i.length, a; ++t < n;) r[(a = i[t]).i] = a.x(e);
			return r.join("");
		};
	};
}
var Xi = Yi(qi, "px, ", "px)", "deg)"), Zi = Yi(Ji, ", ", ")", ")"), Qi = 1e-12;
function $i(e) {
	return ((e = Math.exp(e)) + 1 / e) / 2;
}
function ea(e) {
	return ((e = Math.exp(e)) - 1 / e) / 2;
}
function ta(e) {
	return ((e = Math.exp(2 * e)) - 1) / (e + 1);
}
var na = (function e(t, n, r) {
	function i(e, i) {
		var a = e[0], o = e[1], s = e[2], c = i[0], l = i[1], u = i[2], d = c - a, f = l - o, p = d * d + f * f, m, h;
		if (p < Qi) h = Math.log(u / s) / t, m = function(e) {
			return [
				a + e * d,
				o + e * f,
				s * Math.exp(t * e * h)
			];
		};
		else {
			var g = Math.sqrt(p), _ = (u * u - s * s + r * p) / (2 * s * n * g), v = (u * u - s * s - r * p) / (2 * u * n * g), y = Math.log(Math.sqrt(_ * _ + 1) - _);
			h = (Math.log(Math.sqrt(v * v + 1) - v) - y) / t, m = function(e) {
				var r = e * h, i = $i(y), c = s / (n * g) * (i * ta(t * r + y) - ea(y));
				return [
					a + c * d,
					o + c * f,
					s * i / $i(t * r + y)
				];
			};
		}
		return m.duration = Math.abs(h) * 1e3 * t / Math.SQRT2, m;
	}
	return i.rho = function(t) {
		var n = Math.max(.001, +t), r = n * n;
		return e(n, r, r * r);
	}, i;
})(Math.SQRT2, 2, 4);
function ra(e) {
	return (function t(n) {
		n = +n;
		function r(t, r) {
			var i = e((t = ki(t)).h, (r = ki(r)).h), a = Ii(t.s, r.s), o = Ii(t.l, r.l), s = Ii(t.opacity, r.opacity);
			return function(e) {
				return t.h = i(e), t.s = a(e), t.l = o(e ** +n), t.opacity = s(e), t + "";
			};
		}
		return r.gamma = t, r;
	})(1);
}
ra(Pi), ra(Ii);
// node_modules/d3-timer/dist/d3-timer.mjs
var ia = 0, aa = 0, oa = 0, sa = 1e3, ca, la, ua = 0, da = 0, fa = 0, pa = typeof performance == "object" && performance.now ? performance : Date, ma = typeof window == "object" && window.requestAnimationFrame ? window.requestAnimationFrame.bind(window) : function(e) {
	setTimeout(e, 17);
};
function ha() {
	return da ||= (ma(ga), pa.now() + fa);
}
function ga() {
	da = 0;
}
function _a() {
	this._call = this._time = this._next = null;
}
_a.prototype = va.prototype = {
	constructor: _a,
	restart: function(e, t, n) {
		if (typeof e != "function") throw TypeError("callback is not a function");
		n = (n == null ? ha() : +n) + (t == null ? 0 : +t), !this._next && la !== this && (la ? la._next = this : ca = this, la = this), this._call = e, this._time = n, Ca();
	},
	stop: function() {
		this._call && (this._call = null, this._time = Infinity, Ca());
	}
};
function va(e, t, n) {
	var r = new _a();
	return r.restart(e, t, n), r;
}
function ya() {
	ha(), ++ia;
	for (var e = ca, t; e;) (t = da - e._time) >= 0 && e._call.call(void 0, t), e = e._next;
	--ia;
}
function ba() {
	da = (ua = pa.now()) + fa, ia = aa = 0;
	try {
		ya();
	} finally {
		ia = 0, Sa(), da = 0;
	}
}
function xa() {
	var e = pa.now(), t = e - ua;
	t > sa && (fa -= t, ua = e);
}
function Sa() {
	for (var e, t = ca, n, r = Infinity; t;) t._call ? (r > t._time && (r = t._time), e = t, t = t._next) : (n = t._next, t._next = null, t = e ? e._next = n : ca = n);
	la = e, Ca(r);
}
function Ca(e) {
	ia || (aa &&= clearTimeout(aa), e - da > 24 ? (e < Infinity && (aa = setTimeout(ba, Math.ceil(e - pa.now() - fa) + 1)), oa &&= clearInterval(oa)) : (oa ||= (ua = pa.now(), setInterval(xa, sa)), ia = 1, ma(ba)));
}
function wa(e, t, n) {
	var r = new _a();
	return t = t == null ? 0 : +t, r.restart((n) => {
		r.stop(), e(n + t);
	}, t, n), r;
}
// node_modules/d3-ease/dist/d3-ease.mjs
function Ta(e) {
	return ((e *= 2) <= 1 ? e * e * e : (e -= 2) * e * e + 2) / 2;
}
var Ea = 3;
(function e(t) {
	t = +t;
	function n(e) {
		return e ** +t;
	}
	return n.exponent = e, n;
})(Ea), (function e(t) {
	t = +t;
	function n(e) {
		return 1 - (1 - e) ** t;
	}
	return n.exponent = e, n;
})(Ea), (function e(t) {
	t = +t;
	function n(e) {
		return ((e *= 2) <= 1 ? e ** +t : 2 - (2 - e) ** t) / 2;
	}
	return n.exponent = e, n;
})(Ea);
function Da(e) {
	return (2 ** (-10 * e) - .0009765625) * 1.0009775171065494;
}
var Oa = 4 / 11;
1 / Oa / Oa;
var ka = 1.70158;
(function e(t) {
	t = +t;
	function n(e) {
		return (e = +e) * e * (t * (e - 1) + e);
	}
	return n.overshoot = e, n;
})(ka), (function e(t) {
	t = +t;
	function n(e) {
		return --e * e * ((e + 1) * t + e) + 1;
	}
	return n.overshoot = e, n;
})(ka), (function e(t) {
	t = +t;
	function n(e) {
		return ((e *= 2) < 1 ? e * e * ((t + 1) * e - t) : (e -= 2) * e * ((t + 1) * e + t) + 2) / 2;
	}
	return n.overshoot = e, n;
})(ka);
var Aa = 2 * Math.PI, ja = 1, Ma = .3;
(function e(t, n) {
	var r = Math.asin(1 / (t = Math.max(1, t))) * (n /= Aa);
	function i(e) {
		return t * Da(- --e) * Math.sin((r - e) / n);
	}
	return i.amplitude = function(t) {
		return e(t, n * Aa);
	}, i.period = function(n) {
		return e(t, n);
	}, i;
})(ja, Ma), (function e(t, n) {
	var r = Math.asin(1 / (t = Math.max(1, t))) * (n /= Aa);
	function i(e) {
		return 1 - t * Da(e = +e) * Math.sin((e + r) / n);
	}
	return i.amplitude = function(t) {
		return e(t, n * Aa);
	}, i.period = function(n) {
		return e(t, n);
	}, i;
})(ja, Ma), (function e(t, n) {
	var r = Math.asin(1 / (t = Math.max(1, t))) * (n /= Aa);
	function i(e) {
		return ((e = e * 2 - 1) < 0 ? t * Da(-e) * Math.sin((r - e) / n) : 2 - t * Da(e) * Math.sin((r + e) / n)) / 2;
	}
	return i.amplitude = function(t) {
		return e(t, n * Aa);
	}, i.period = function(n) {
		return e(t, n);
	}, i;
})(ja, Ma);
// node_modules/d3-transition/dist/d3-transition.mjs
var Na = ur("start", "end", "cancel", "interrupt"), Pa = [], Fa = 0, Ia = 1, La = 2, Ra = 3, za = 4, Ba = 5, Va = 6;
function Ha(e, t, n, r, i, a) {
	var o = e.__transition;
	if (!o) e.__transition = {};
	else if (n in o) return;
	Wa(e, n, {
		name: t,
		index: r,
		group: i,
		on: Na,
		tween: Pa,
		time: a.time,
		delay: a.delay,
		duration: a.duration,
		ease: a.ease,
		timer: null,
		state: Fa
	});
}
function Ua(e, t) {
	var n = K(e, t);
	if (n.state > Fa) throw Error("too late; already scheduled");
	return n;
}
function G(e, t) {
	var n = K(e, t);
	if (n.state > Ra) throw Error("too late; already running");
	return n;
}
function K(e, t) {
	var n = e.__transition;
	if (!n || !(n = n[t])) throw Error("transition not found");
	return n;
}
function Wa(e, t, n) {
	var r = e.__transition, i;
	r[t] = n, n.timer = va(a, 0, n.time);
	function a(e) {
		n.state = Ia, n.timer.restart(o, n.delay, n.time), n.delay <= e && o(e - n.delay);
	}
	function o(a) {
		var l, u, d, f;
		if (n.state !== Ia) return c();
		for (l in r) if (f = r[l], f.name === n.name) {
			if (f.state === Ra) return wa(o);
			f.state === za ? (f.state = Va, f.timer.stop(), f.on.call("interrupt", e, e.__data__, f.index, f.group), delete r[l]) : +l < t && (f.state = Va, f.timer.stop(), f.on.call("cancel", e, e.__data__, f.index, f.group), delete r[l]);
		}
		if (wa(function() {
			n.state === Ra && (n.state = za, n.timer.restart(s, n.delay, n.time), s(a));
		}), n.state = La, n.on.call("start", e, e.__data__, n.index, n.group), n.state === La) {
			for (n.state = Ra, i = Array(d = n.tween.length), l = 0, u = -1; l < d; ++l) (f = n.tween[l].value.call(e, e.__data__, n.index, n.group)) && (i[++u] = f);
			i.length = u + 1;
		}
	}
	function s(t) {
		for (var r = t < n.duration ? n.ease.call(null, t / n.duration) : (n.timer.restart(c), n.state = Ba, 1), a = -1, o = i.length; ++a < o;) i[a].call(e, r);
		n.state === Ba && (n.on.call("end", e, e.__data__, n.index, n.group), c());
	}
	function c() {
		for (var i in n.state = Va, n.timer.stop(), delete r[t], r) return;
		delete e.__transition;
	}
}
function Ga(e, t) {
	var n = e.__transition, r, i, a = !0, o;
	if (n) {
		for (o in t = t == null ? null : t + "", n) (r = n[o]).name === t ? (i = r.state > La && r.state < Ba, r.state = Va, r.timer.stop(), r.on.call(i ? "interrupt" : "cancel", e, e.__data__, r.index, r.group), delete n[o]) : a = !1;
		a && delete e.__transition;
	}
}
function Ka(e) {
	return this.each(function() {
		Ga(this, e);
	});
}
function qa(e, t) {
	var n, r;
	return function() {
		var i = G(this, e), a = i.tween;
		if (a !== n) {
			r = n = a;
			for (var o = 0, s = r.length; o < s; ++o) if (r[o].name === t) {
				r = r.slice(), r.splice(o, 1);
				break;
			}
		}
		i.tween = r;
	};
}
function Ja(e, t, n) {
	var r, i;
	if (typeof n != "function") throw Error();
	return function() {
		var a = G(this, e), o = a.tween;
		if (o !== r) {
			i = (r = o).slice();
			for (var s = {
				name: t,
				value: n
			}, c = 0, l = i.length; c < l; ++c) if (i[c].name === t) {
				i[c] = s;
				break;
			}
			c === l && i.push(s);
		}
		a.tween = i;
	};
}
function Ya(e, t) {
	var n = this._id;
	if (e += "", arguments.length < 2) {
		for (var r = K(this.node(), n).tween, i = 0, a = r.length, o; i < a; ++i) if ((o = r[i]).name === e) return o.value;
		return null;
	}
	return this.each((t == null ? qa : Ja)(n, e, t));
}
function Xa(e, t, n) {
	var r = e._id;
	return e.each(function() {
		var e = G(this, r);
		(e.value ||= {})[t] = n.apply(this, arguments);
	}), function(e) {
		return K(e, r).value[t];
	};
}
function Za(e, t) {
	var n;
	return (typeof t == "number" ? W : t instanceof Rr ? Li : (n = Rr(t)) ? (t = n, Li) : Hi)(e, t);
}
function Qa(e) {
	return function() {
		this.removeAttribute(e);
	};
}
function $a(e) {
	return function() {
		this.removeAttributeNS(e.space, e.local);
	};
}
function eo(e, t, n) {
	var r, i = n + "", a;
	return function() {
		var o = this.getAttribute(e);
		return o === i ? null : o === r ? a : a = t(r = o, n);
	};
}
function to(e, t, n) {
	var r, i = n + "", a;
	return function() {
		var o = this.getAttributeNS(e.space, e.local);
		return o === i ? null : o === r ? a : a = t(r = o, n);
	};
}
function no(e, t, n) {
	var r, i, a;
	return function() {
		var o, s = n(this), c;
		return s == null ? void this.removeAttribute(e) : (o = this.getAttribute(e), c = s + "", o === c ? null : o === r && c === i ? a : (i = c, a = t(r = o, s)));
	};
}
function ro(e, t, n) {
	var r, i, a;
	return function() {
		var o, s = n(this), c;
		return s == null ? void this.removeAttributeNS(e.space, e.local) : (o = this.getAttributeNS(e.space, e.local), c = s + "", o === c ? null : o === r && c === i ? a : (i = c, a = t(r = o, s)));
	};
}
function io(e, t) {
	var n = st(e), r = n === "transform" ? Zi : Za;
	return this.attrTween(e, typeof t == "function" ? (n.local ? ro : no)(n, r, Xa(this, "attr." + e, t)) : t == null ? (n.local ? $a : Qa)(n) : (n.local ? to : eo)(n, r, t));
}
function ao(e, t) {
	return function(n) {
		this.setAttribute(e, t.call(this, n));
	};
}
function oo(e, t) {
	return function(n) {
		this.setAttributeNS(e.space, e.local, t.call(this, n));
	};
}
function so(e, t) {
	var n, r;
	function i() {
		var i = t.apply(this, arguments);
		return i !== r && (n = (r = i) && oo(e, i)), n;
	}
	return i._value = t, i;
}
function co(e, t) {
	var n, r;
	function i() {
		var i = t.apply(this, arguments);
		return i !== r && (n = (r = i) && ao(e, i)), n;
	}
	return i._value = t, i;
}
function lo(e, t) {
	var n = "attr." + e;
	if (arguments.length < 2) return (n = this.tween(n)) && n._value;
	if (t == null) return this.tween(n, null);
	if (typeof t != "function") throw Error();
	var r = st(e);
	return this.tween(n, (r.local ? so : co)(r, t));
}
function uo(e, t) {
	return function() {
		Ua(this, e).delay = +t.apply(this, arguments);
	};
}
function fo(e, t) {
	return t = +t, function() {
		Ua(this, e).delay = t;
	};
}
function po(e) {
	var t = this._id;
	return arguments.length ? this.each((typeof e == "function" ? uo : fo)(t, e)) : K(this.node(), t).delay;
}
function mo(e, t) {
	return function() {
		G(this, e).duration = +t.apply(this, arguments);
	};
}
function ho(e, t) {
	return t = +t, function() {
		G(this, e).duration = t;
	};
}
function go(e) {
	var t = this._id;
	return arguments.length ? this.each((typeof e == "function" ? mo : ho)(t, e)) : K(this.node(), t).duration;
}
function _o(e, t) {
	if (typeof t != "function") throw Error();
	return function() {
		G(this, e).ease = t;
	};
}
function vo(e) {
	var t = this._id;
	return arguments.length ? this.each(_o(t, e)) : K(this.node(), t).ease;
}
function yo(e, t) {
	return function() {
		var n = t.apply(this, arguments);
		if (typeof n != "function") throw Error();
		G(this, e).ease = n;
	};
}
function bo(e) {
	if (typeof e != "function") throw Error();
	return this.each(yo(this._id, e));
}
function xo(e) {
	typeof e != "function" && (e = yt(e));
	for (var t = this._groups, n = t.length, r = Array(n), i = 0; i < n; ++i) for (var a = t[i], o = a.length, s = r[i] = [], c, l = 0; l < o; ++l) (c = a[l]) && e.call(c, c.__data__, l, a) && s.push(c);
	return new q(r, this._parents, this._name, this._id);
}
function So(e) {
	if (e._id !== this._id) throw Error();
	for (var t = this._groups, n = e._groups, r = t.length, i = n.length, a = Math.min(r, i), o = Array(r), s = 0; s < a; ++s) for (var c = t[s], l = n[s], u = c.length, d = o[s] = Array(u), f, p = 0; p < u; ++p) (f = c[p] || l[p]) && (d[p] = f);
	for (; s < r; ++s) o[s] = t[s];
	return new q(o, this._parents, this._name, this._id);
}
function Co(e) {
	return (e + "").trim().split(/^|\s+/).every(function(e) {
		var t = e.indexOf(".");
		return t >= 0 && (e = e.slice(0, t)), !e || e === "start";
	});
}
function wo(e, t, n) {
	var r, i, a = Co(t) ? Ua : G;
	return function() {
		var o = a(this, e), s = o.on;
		s !== r && (i = (r = s).copy()).on(t, n), o.on = i;
	};
}
function To(e, t) {
	var n = this._id;
	return arguments.length < 2 ? K(this.node(), n).on.on(e) : this.each(wo(n, e, t));
}
function Eo(e) {
	return function() {
		var t = this.parentNode;
		for (var n in this.__transition) if (+n !== e) return;
		t && t.removeChild(this);
	};
}
function Do() {
	return this.on("end.remove", Eo(this._id));
}
function Oo(e) {
	var t = this._name, n = this._id;
	typeof e != "function" && (e = ft(e));
	for (var r = this._groups, i = r.length, a = Array(i), o = 0; o < i; ++o) for (var s = r[o], c = s.length, l = a[o] = Array(c), u, d, f = 0; f < c; ++f) (u = s[f]) && (d = e.call(u, u.__data__, f, s)) && ("__data__" in u && (d.__data__ = u.__data__), l[f] = d, Ha(l[f], t, n, f, l, K(u, n)));
	return new q(a, this._parents, t, n);
}
function ko(e) {
	var t = this._name, n = this._id;
	typeof e != "function" && (e = gt(e));
	for (var r = this._groups, i = r.length, a = [], o = [], s = 0; s < i; ++s) for (var c = r[s], l = c.length, u, d = 0; d < l; ++d) if (u = c[d]) {
		for (var f = e.call(u, u.__data__, d, c), p, m = K(u, n), h = 0, g = f.length; h < g; ++h) (p = f[h]) && Ha(p, t, n, h, f, m);
		a.push(f), o.push(u);
	}
	return new q(a, o, t, n);
}
var Ao = nr.prototype.constructor;
function jo() {
	return new Ao(this._groups, this._parents);
}
function Mo(e, t) {
	var n, r, i;
	return function() {
		var a = un(this, e), o = (this.style.removeProperty(e), un(this, e));
		return a === o ? null : a === n && o === r ? i : i = t(n = a, r = o);
	};
}
function No(e) {
	return function() {
		this.style.removeProperty(e);
	};
}
function Po(e, t, n) {
	var r, i = n + "", a;
	return function() {
		var o = un(this, e);
		return o === i ? null : o === r ? a : a = t(r = o, n);
	};
}
function Fo(e, t, n) {
	var r, i, a;
	return function() {
		var o = un(this, e), s = n(this), c = s + "";
		return s ?? (c = s = (this.style.removeProperty(e), un(this, e))), o === c ? null : o === r && c === i ? a : (i = c, a = t(r = o, s));
	};
}
function Io(e, t) {
	var n, r, i, a = "style." + t, o = "end." + a, s;
	return function() {
		var c = G(this, e), l = c.on, u = c.value[a] == null ? s ||= No(t) : void 0;
		(l !== n || i !== u) && (r = (n = l).copy()).on(o, i = u), c.on = r;
	};
}
function Lo(e, t, n) {
	var r = (e += "") == "transform" ? Xi : Za;
	return t == null ? this.styleTween(e, Mo(e, r)).on("end.style." + e, No(e)) : typeof t == "function" ? this.styleTween(e, Fo(e, r, Xa(this, "style." + e, t))).each(Io(this._id, e)) : this.styleTween(e, Po(e, r, t), n).on("end.style." + e, null);
}
function Ro(e, t, n) {
	return function(r) {
		this.style.setProperty(e, t.call(this, r), n);
	};
}
function zo(e, t, n) {
	var r, i;
	function a() {
		var a = t.apply(this, arguments);
		return a !== i && (r = (i = a) && Ro(e, a, n)), r;
	}
	return a._value = t, a;
}
function Bo(e, t, n) {
	var r = "style." + (e += "");
	if (arguments.length < 2) return (r = this.tween(r)) && r._value;
	if (t == null) return this.tween(r, null);
	if (typeof t != "function") throw Error();
	return this.tween(r, zo(e, t, n ?? ""));
}
function Vo(e) {
	return function() {
		this.textContent = e;
	};
}
function Ho(e) {
	return function() {
		var t = e(this);
		this.textContent = t ?? "";
	};
}
function Uo(e) {
	return this.tween("text", typeof e == "function" ? Ho(Xa(this, "text", e)) : Vo(e == null ? "" : e + ""));
}
function Wo(e) {
	return function(t) {
		this.textContent = e.call(this, t);
	};
}
function Go(e) {
	var t, n;
	function r() {
		var r = e.apply(this, arguments);
		return r !== n && (t = (n = r) && Wo(r)), t;
	}
	return r._value = e, r;
}
function Ko(e) {
	var t = "text";
	if (arguments.length < 1) return (t = this.tween(t)) && t._value;
	if (e == null) return this.tween(t, null);
	if (typeof e != "function") throw Error();
	return this.tween(t, Go(e));
}
function qo() {
	for (var e = this._name, t = this._id, n = Xo(), r = this._groups, i = r.length, a = 0; a < i; ++a) for (var o = r[a], s = o.length, c, l = 0; l < s; ++l) if (c = o[l]) {
		var u = K(c, t);
		Ha(c, e, n, l, o, {
			time: u.time + u.delay + u.duration,
			delay: 0,
			duration: u.duration,
			ease: u.ease
		});
	}
	return new q(r, this._parents, e, n);
}
function Jo() {
	var e, t, n = this, r = n._id, i = n.size();
	return new Promise(function(a, o) {
		var s = { value: o }, c = { value: function() {
			--i === 0 && a();
		} };
		n.each(function() {
			var n = G(this, r), i = n.on;
			i !== e && (t = (e = i).copy(), t._.cancel.push(s), t._.interrupt.push(s), t._.end.push(c)), n.on = t;
		}), i === 0 && a();
	});
}
var Yo = 0;
function q(e, t, n, r) {
	this._groups = e, this._parents = t, this._name = n, this._id = r;
}
function Xo() {
	return ++Yo;
}
var J = nr.prototype;
q.prototype = {
	constructor: q,
	select: Oo,
	selectAll: ko,
	selectChild: J.selectChild,
	selectChildren: J.selectChildren,
	filter: xo,
	merge: So,
	selection: jo,
	transition: qo,
	call: J.call,
	nodes: J.nodes,
	node: J.node,
	size: J.size,
	empty: J.empty,
	each: J.each,
	on: To,
	attr: io,
	attrTween: lo,
	style: Lo,
	styleTween: Bo,
	text: Uo,
	textTween: Ko,
	remove: Do,
	tween: Ya,
	delay: po,
	duration: go,
	ease: vo,
	easeVarying: bo,
	end: Jo,
	[Symbol.iterator]: J[Symbol.iterator]
};
var Zo = {
	time: null,
	delay: 0,
	duration: 250,
	ease: Ta
};
function Qo(e, t) {
	for (var n; !(n = e.__transition) || !(n = n[t]);) if (!(e = e.parentNode)) throw Error(`transition ${t} not found`);
	return n;
}
function $o(e) {
	var t, n;
	e instanceof q ? (t = e._id, e = e._name) : (t = Xo(), (n = Zo).time = ha(), e = e == null ? null : e + "");
	for (var r = this._groups, i = r.length, a = 0; a < i; ++a) for (var o = r[a], s = o.length, c, l = 0; l < s; ++l) (c = o[l]) && Ha(c, e, t, l, o, n || Qo(c, t));
	return new q(r, this._parents, e, t);
}
nr.prototype.interrupt = Ka, nr.prototype.transition = $o;
// node_modules/d3-zoom/dist/d3-zoom.mjs
var es = (e) => () => e;
function ts(e, { sourceEvent: t, target: n, transform: r, dispatch: i }) {
	Object.defineProperties(this, {
		type: {
			value: e,
			enumerable: !0,
			configurable: !0
		},
		sourceEvent: {
			value: t,
			enumerable: !0,
			configurable: !0
		},
		target: {
			value: n,
			enumerable: !0,
			configurable: !0
		},
		transform: {
			value: r,
			enumerable: !0,
			configurable: !0
		},
		_: { value: i }
	});
}
function Y(e, t, n) {
	this.k = e, this.x = t, this.y = n;
}
Y.prototype = {
	constructor: Y,
	scale: function(e) {
		return e === 1 ? this : new Y(this.k * e, this.x, this.y);
	},
	translate: function(e, t) {
		return e === 0 & t === 0 ? this : new Y(this.k, this.x + this.k * e, this.y + this.k * t);
	},
	apply: function(e) {
		return [e[0] * this.k + this.x, e[1] * this.k + this.y];
	},
	applyX: function(e) {
		return e * this.k + this.x;
	},
	applyY: function(e) {
		return e * this.k + this.y;
	},
	invert: function(e) {
		return [(e[0] - this.x) / this.k, (e[1] - this.y) / this.k];
	},
	invertX: function(e) {
		return (e - this.x) / this.k;
	},
	invertY: function(e) {
		return (e - this.y) / this.k;
	},
	rescaleX: function(e) {
		return e.copy().domain(e.range().map(this.invertX, this).map(e.invert, e));
	},
	rescaleY: function(e) {
		return e.copy().domain(e.range().map(this.invertY, this).map(e.invert, e));
	},
	toString: function() {
		return "translate(" + this.x + "," + this.y + ") scale(" + this.k + ")";
	}
};
var ns = new Y(1, 0, 0);
rs.prototype = Y.prototype;
function rs(e) {
	for (; !e.__zoom;) if (!(e = e.parentNode)) return ns;
	return e.__zoom;
}
function is(e) {
	e.stopImmediatePropagation();
}
function as(e) {
	e.preventDefault(), e.stopImmediatePropagation();
}
function os(e) {
	return (!e.ctrlKey || e.type === "wheel") && !e.button;
}
function ss() {
	var e = this;
	return e instanceof SVGElement ? (e = e.ownerSVGElement || e, e.hasAttribute("viewBox") ? (e = e.viewBox.baseVal, [[e.x, e.y], [e.x + e.width, e.y + e.height]]) : [[0, 0], [e.width.baseVal.value, e.height.baseVal.value]]) : [[0, 0], [e.clientWidth, e.clientHeight]];
}
function cs() {
	return this.__zoom || ns;
}
function ls(e) {
	return -e.deltaY * (e.deltaMode === 1 ? .05 : e.deltaMode ? 1 : .002) * (e.ctrlKey ? 10 : 1);
}
function us() {
	return navigator.maxTouchPoints || "ontouchstart" in this;
}
function ds(e, t, n) {
	var r = e.invertX(t[0][0]) - n[0][0], i = e.invertX(t[1][0]) - n[1][0], a = e.invertY(t[0][1]) - n[0][1], o = e.invertY(t[1][1]) - n[1][1];
	return e.translate(i > r ? (r + i) / 2 : Math.min(0, r) || Math.max(0, i), o > a ? (a + o) / 2 : Math.min(0, a) || Math.max(0, o));
}
function fs() {
	var e = os, t = ss, n = ds, r = ls, i = us, a = [0, Infinity], o = [[-Infinity, -Infinity], [Infinity, Infinity]], s = 250, c = na, l = ur("start", "zoom", "end"), u, d, f, p = 500, m = 150, h = 0, g = 10;
	function _(e) {
		e.property("__zoom", cs).on("wheel.zoom", w, { passive: !1 }).on("mousedown.zoom", T).on("dblclick.zoom", ee).filter(i).on("touchstart.zoom", E).on("touchmove.zoom", D).on("touchend.zoom touchcancel.zoom", te).style("-webkit-tap-highlight-color", "rgba(0,0,0,0)");
	}
	_.transform = function(e, t, n, r) {
		var i = e.selection ? e.selection() : e;
		i.property("__zoom", cs), e === i ? i.interrupt().each(function() {
			S(this, arguments).event(r).start().zoom(null, typeof t == "function" ? t.apply(this, arguments) : t).end();
		}) : x(e, t, n, r);
	}, _.scaleBy = function(e, t, n, r) {
		_.scaleTo(e, function() {
			return this.__zoom.k * (typeof t == "function" ? t.apply(this, arguments) : t);
		}, n, r);
	}, _.scaleTo = function(e, r, i, a) {
		_.transform(e, function() {
			var e = t.apply(this, arguments), a = this.__zoom, s = i == null ? b(e) : typeof i == "function" ? i.apply(this, arguments) : i, c = a.invert(s), l = typeof r == "function" ? r.apply(this, arguments) : r;
			return n(y(v(a, l), s, c), e, o);
		}, i, a);
	}, _.translateBy = function(e, r, i, a) {
		_.transform(e, function() {
			return n(this.__zoom.translate(typeof r == "function" ? r.apply(this, arguments) : r, typeof i == "function" ? i.apply(this, arguments) : i), t.apply(this, arguments), o);
		}, null, a);
	}, _.translateTo = function(e, r, i, a, s) {
		_.transform(e, function() {
			var e = t.apply(this, arguments), s = this.__zoom, c = a == null ? b(e) : typeof a == "function" ? a.apply(this, arguments) : a;
			return n(ns.translate(c[0], c[1]).scale(s.k).translate(typeof r == "function" ? -r.apply(this, arguments) : -r, typeof i == "function" ? -i.apply(this, arguments) : -i), e, o);
		}, a, s);
	};
	function v(e, t) {
		return t = Math.max(a[0], Math.min(a[1], t)), t === e.k ? e : new Y(t, e.x, e.y);
	}
	function y(e, t, n) {
		var r = t[0] - n[0] * e.k, i = t[1] - n[1] * e.k;
		return r === e.x && i === e.y ? e : new Y(e.k, r, i);
	}
	function b(e) {
		return [(+e[0][0] + +e[1][0]) / 2, (+e[0][1] + +e[1][1]) / 2];
	}
	function x(e, n, r, i) {
		e.on("start.zoom", function() {
			S(this, arguments).event(i).start();
		}).on("interrupt.zoom end.zoom", function() {
			S(this, arguments).event(i).end();
		}).tween("zoom", function() {
			var e = this, a = arguments, o = S(e, a).event(i), s = t.apply(e, a), l = r == null ? b(s) : typeof r == "function" ? r.apply(e, a) : r, u = Math.max(s[1][0] - s[0][0], s[1][1] - s[0][1]), d = e.__zoom, f = typeof n == "function" ? n.apply(e, a) : n, p = c(d.invert(l).concat(u / d.k), f.invert(l).concat(u / f.k));
			return function(e) {
				if (e === 1) e = f;
				else {
					var t = p(e), n = u / t[2];
					e = new Y(n, l[0] - t[0] * n, l[1] - t[1] * n);
				}
				o.zoom(null, e);
			};
		});
	}
	function S(e, t, n) {
		return !n && e.__zooming || new C(e, t);
	}
	function C(e, n) {
		this.that = e, this.args = n, this.active = 0, this.sourceEvent = null, this.extent = t.apply(e, n), this.taps = 0;
	}
	C.prototype = {
		event: function(e) {
			return e && (this.sourceEvent = e), this;
		},
		start: function() {
			return ++this.active === 1 && (this.that.__zooming = this, this.emit("start")), this;
		},
		zoom: function(e, t) {
			return this.mouse && e !== "mouse" && (this.mouse[1] = t.invert(this.mouse[0])), this.touch0 && e !== "touch" && (this.touch0[1] = t.invert(this.touch0[0])), this.touch1 && e !== "touch" && (this.touch1[1] = t.invert(this.touch1[0])), this.that.__zoom = t, this.emit("zoom"), this;
		},
		end: function() {
			return --this.active === 0 && (delete this.that.__zooming, this.emit("end")), this;
		},
		emit: function(e) {
			var t = L(this.that).datum();
			l.call(e, this.that, new ts(e, {
				sourceEvent: this.sourceEvent,
				target: _,
				transform: this.that.__zoom,
				dispatch: l
			}), t);
		}
	};
	function w(t, ...i) {
		if (!e.apply(this, arguments)) return;
		var s = S(this, i).event(t), c = this.__zoom, l = Math.max(a[0], Math.min(a[1], c.k * 2 ** r.apply(this, arguments))), u = cr(t);
		if (s.wheel) (s.mouse[0][0] !== u[0] || s.mouse[0][1] !== u[1]) && (s.mouse[1] = c.invert(s.mouse[0] = u)), clearTimeout(s.wheel);
		else if (c.k === l) return;
		else s.mouse = [u, c.invert(u)], Ga(this), s.start();
		as(t), s.wheel = setTimeout(d, m), s.zoom("mouse", n(y(v(c, l), s.mouse[0], s.mouse[1]), s.extent, o));
		function d() {
			s.wheel = null, s.end();
		}
	}
	function T(t, ...r) {
		if (f || !e.apply(this, arguments)) return;
		var i = t.currentTarget, a = S(this, r, !0).event(t), s = L(t.view).on("mousemove.zoom", d, !0).on("mouseup.zoom", p, !0), c = cr(t, i), l = t.clientX, u = t.clientY;
		_r(t.view), is(t), a.mouse = [c, this.__zoom.invert(c)], Ga(this), a.start();
		function d(e) {
			if (as(e), !a.moved) {
				var t = e.clientX - l, r = e.clientY - u;
				a.moved = t * t + r * r > h;
			}
			a.event(e).zoom("mouse", n(y(a.that.__zoom, a.mouse[0] = cr(e, i), a.mouse[1]), a.extent, o));
		}
		function p(e) {
			s.on("mousemove.zoom mouseup.zoom", null), vr(e.view, a.moved), as(e), a.event(e).end();
		}
	}
	function ee(r, ...i) {
		if (e.apply(this, arguments)) {
			var a = this.__zoom, c = cr(r.changedTouches ? r.changedTouches[0] : r, this), l = a.invert(c), u = a.k * (r.shiftKey ? .5 : 2), d = n(y(v(a, u), c, l), t.apply(this, i), o);
			as(r), s > 0 ? L(this).transition().duration(s).call(x, d, c, r) : L(this).call(_.transform, d, c, r);
		}
	}
	function E(t, ...n) {
		if (e.apply(this, arguments)) {
			var r = t.touches, i = r.length, a = S(this, n, t.changedTouches.length === i).event(t), o, s, c, l;
			for (is(t), s = 0; s < i; ++s) c = r[s], l = cr(c, this), l = [
				l,
				this.__zoom.invert(l),
				c.identifier
			], a.touch0 ? !a.touch1 && a.touch0[2] !== l[2] && (a.touch1 = l, a.taps = 0) : (a.touch0 = l, o = !0, a.taps = 1 + !!u);
			u &&= clearTimeout(u), o && (a.taps < 2 && (d = l[0], u = setTimeout(function() {
				u = null;
			}, p)), Ga(this), a.start());
		}
	}
	function D(e, ...t) {
		if (this.__zooming) {
			var r = S(this, t).event(e), i = e.changedTouches, a = i.length, s, c, l, u;
			for (as(e), s = 0; s < a; ++s) c = i[s], l = cr(c, this), r.touch0 && r.touch0[2] === c.identifier ? r.touch0[0] = l : r.touch1 && r.touch1[2] === c.identifier && (r.touch1[0] = l);
			if (c = r.that.__zoom, r.touch1) {
				var d = r.touch0[0], f = r.touch0[1], p = r.touch1[0], m = r.touch1[1], h = (h = p[0] - d[0]) * h + (h = p[1] - d[1]) * h, g = (g = m[0] - f[0]) * g + (g = m[1] - f[1]) * g;
				c = v(c, Math.sqrt(h / g)), l = [(d[0] + p[0]) / 2, (d[1] + p[1]) / 2], u = [(f[0] + m[0]) / 2, (f[1] + m[1]) / 2];
			} else if (r.touch0) l = r.touch0[0], u = r.touch0[1];
			else return;
			r.zoom("touch", n(y(c, l, u), r.extent, o));
		}
	}
	function te(e, ...t) {
		if (this.__zooming) {
			var n = S(this, t).event(e), r = e.changedTouches, i = r.length, a, o;
			for (is(e), f && clearTimeout(f), f = setTimeout(function() {
				f = null;
			}, p), a = 0; a < i; ++a) o = r[a], n.touch0 && n.touch0[2] === o.identifier ? delete n.touch0 : n.touch1 && n.touch1[2] === o.identifier && delete n.touch1;
			if (n.touch1 && !n.touch0 && (n.touch0 = n.touch1, delete n.touch1), n.touch0) n.touch0[1] = this.__zoom.invert(n.touch0[0]);
			else if (n.end(), n.taps === 2 && (o = cr(o, this), Math.hypot(d[0] - o[0], d[1] - o[1]) < g)) {
				var s = L(this).on("dblclick.zoom");
				s && s.apply(this, arguments);
			}
		}
	}
	return _.wheelDelta = function(e) {
		return arguments.length ? (r = typeof e == "function" ? e : es(+e), _) : r;
	}, _.filter = function(t) {
		return arguments.length ? (e = typeof t == "function" ? t : es(!!t), _) : e;
	}, _.touchable = function(e) {
		return arguments.length ? (i = typeof e == "function" ? e : es(!!e), _) : i;
	}, _.extent = function(e) {
		return arguments.length ? (t = typeof e == "function" ? e : es([[+e[0][0], +e[0][1]], [+e[1][0], +e[1][1]]]), _) : t;
	}, _.scaleExtent = function(e) {
		return arguments.length ? (a[0] = +e[0], a[1] = +e[1], _) : [a[0], a[1]];
	}, _.translateExtent = function(e) {
		return arguments.length ? (o[0][0] = +e[0][0], o[1][0] = +e[1][0], o[0][1] = +e[0][1], o[1][1] = +e[1][1], _) : [[o[0][0], o[0][1]], [o[1][0], o[1][1]]];
	}, _.constrain = function(e) {
		return arguments.length ? (n = e, _) : n;
	}, _.duration = function(e) {
		return arguments.length ? (s = +e, _) : s;
	}, _.interpolate = function(e) {
		return arguments.length ? (c = e, _) : c;
	}, _.on = function() {
		var e = l.on.apply(l, arguments);
		return e === l ? _ : e;
	}, _.clickDistance = function(e) {
		return arguments.length ? (h = (e = +e) * e, _) : Math.sqrt(h);
	}, _.tapDistance = function(e) {
		return arguments.length ? (g = +e, _) : g;
	}, _;
}
// node_modules/d3-quadtree/dist/d3-quadtree.mjs
function ps(e) {
	let t = +this._x.call(null, e), n = +this._y.call(null, e);
	return ms(this.cover(t, n), t, n, e);
}
function ms(e, t, n, r) {
	if (isNaN(t) || isNaN(n)) return e;
	var i, a = e._root, o = { data: r }, s = e._x0, c = e._y0, l = e._x1, u = e._y1, d, f, p, m, h, g, _, v;
	if (!a) return e._root = o, e;
	for (; a.length;) if ((h = t >= (d = (s + l) / 2)) ? s = d : l = d, (g = n >= (f = (c + u) / 2)) ? c = f : u = f, i = a, !(a = a[_ = g << 1 | h])) return i[_] = o, e;
	if (p = +e._x.call(null, a.data), m = +e._y.call(null, a.data), t === p && n === m) return o.next = a, i ? i[_] = o : e._root = o, e;
	do
		i = i ? i[_] = [
			,
			,
			,
			,
		] : e._root = [
			,
			,
			,
			,
		], (h = t >= (d = (s + l) / 2)) ? s = d : l = d, (g = n >= (f = (c + u) / 2)) ? c = f : u = f;
	while ((_ = g << 1 | h) == (v = (m >= f) << 1 | p >= d));
	return i[v] = a, i[_] = o, e;
}
function hs(e) {
	Array.isArray(e) || (e = Array.from(e));
	let t = e.length, n = new Float64Array(t), r = new Float64Array(t), i = Infinity, a = i, o = -i, s = o;
	for (let c = 0, l, u, d; c < t; ++c) isNaN(u = +this._x.call(null, l = e[c])) || isNaN(d = +this._y.call(null, l)) ? n[c] = NaN : (n[c] = u, r[c] = d, u < i && (i = u), u > o && (o = u), d < a && (a = d), d > s && (s = d));
	if (i > o || a > s) return this;
	this.cover(i, a).cover(o, s);
	for (let i = 0; i < t; ++i) ms(this, n[i], r[i], e[i]);
	return this;
}
function gs(e, t) {
	if (isNaN(e = +e) || isNaN(t = +t)) return this;
	var n = this._x0, r = this._y0, i = this._x1, a = this._y1;
	if (isNaN(n)) i = (n = Math.floor(e)) + 1, a = (r = Math.floor(t)) + 1;
	else {
		for (var o = i - n || 1, s = this._root, c, l; n > e || e >= i || r > t || t >= a;) switch (l = (t < r) << 1 | e < n, c = [
			,
			,
			,
			,
		], c[l] = s, s = c, o *= 2, l) {
			case 0:
				i = n + o, a = r + o;
				break;
			case 1:
				n = i - o, a = r + o;
				break;
			case 2:
				i = n + o, r = a - o;
				break;
			case 3: n = i - o, r = a - o;
		}
		this._root && this._root.length && (this._root = s);
	}
	return this._x0 = n, this._y0 = r, this._x1 = i, this._y1 = a, this;
}
function _s() {
	var e = [];
	return this.visit(function(t) {
		if (!t.length) do
			e.push(t.data);
		while (t = t.next);
	}), e;
}
function vs(e) {
	return arguments.length ? this.cover(+e[0][0], +e[0][1]).cover(+e[1][0], +e[1][1]) : isNaN(this._x0) ? void 0 : [[this._x0, this._y0], [this._x1, this._y1]];
}
function X(e, t, n, r, i) {
	this.node = e, this.x0 = t, this.y0 = n, this.x1 = r, this.y1 = i;
}
function ys(e, t, n) {
	var r, i = this._x0, a = this._y0, o, s, c, l, u = this._x1, d = this._y1, f = [], p = this._root, m, h;
	for (p && f.push(new X(p, i, a, u, d)), n == null ? n = Infinity : (i = e - n, a = t - n, u = e + n, d = t + n, n *= n); m = f.pop();) if (!(!(p = m.node) || (o = m.x0) > u || (s = m.y0) > d || (c = m.x1) < i || (l = m.y1) < a)) {
		if (p.length) {
			var g = (o + c) / 2, _ = (s + l) / 2;
			f.push(new X(p[3], g, _, c, l), new X(p[2], o, _, g, l), new X(p[1], g, s, c, _), new X(p[0], o, s, g, _)), (h = (t >= _) << 1 | e >= g) && (m = f[f.length - 1], f[f.length - 1] = f[f.length - 1 - h], f[f.length - 1 - h] = m);
		} else {
			var v = e - +this._x.call(null, p.data), y = t - +this._y.call(null, p.data), b = v * v + y * y;
			if (b < n) {
				var x = Math.sqrt(n = b);
				i = e - x, a = t - x, u = e + x, d = t + x, r = p.data;
			}
		}
	}
	return r;
}
function bs(e) {
	if (isNaN(u = +this._x.call(null, e)) || isNaN(d = +this._y.call(null, e))) return this;
	var t, n = this._root, r, i, a, o = this._x0, s = this._y0, c = this._x1, l = this._y1, u, d, f, p, m, h, g, _;
	if (!n) return this;
	if (n.length) for (;;) {
		if ((m = u >= (f = (o + c) / 2)) ? o = f : c = f, (h = d >= (p = (s + l) / 2)) ? s = p : l = p, t = n, !(n = n[g = h << 1 | m])) return this;
		if (!n.length) break;
		(t[g + 1 & 3] || t[g + 2 & 3] || t[g + 3 & 3]) && (r = t, _ = g);
	}
	for (; n.data !== e;) if (i = n, !(n = n.next)) return this;
	return (a = n.next) && delete n.next, i ? (a ? i.next = a : delete i.next, this) : t ? (a ? t[g] = a : delete t[g], (n = t[0] || t[1] || t[2] || t[3]) && n === (t[3] || t[2] || t[1] || t[0]) && !n.length && (r ? r[_] = n : this._root = n), this) : (this._root = a, this);
}
function xs(e) {
	for (var t = 0, n = e.length; t < n; ++t) this.remove(e[t]);
	return this;
}
function Ss() {
	return this._root;
}
function Cs() {
	var e = 0;
	return this.visit(function(t) {
		if (!t.length) do
			++e;
		while (t = t.next);
	}), e;
}
function ws(e) {
	var t = [], n, r = this._root, i, a, o, s, c;
	for (r && t.push(new X(r, this._x0, this._y0, this._x1, this._y1)); n = t.pop();) if (!e(r = n.node, a = n.x0, o = n.y0, s = n.x1, c = n.y1) && r.length) {
		var l = (a + s) / 2, u = (o + c) / 2;
		(i = r[3]) && t.push(new X(i, l, u, s, c)), (i = r[2]) && t.push(new X(i, a, u, l, c)), (i = r[1]) && t.push(new X(i, l, o, s, u)), (i = r[0]) && t.push(new X(i, a, o, l, u));
	}
	return this;
}
function Ts(e) {
	var t = [], n = [], r;
	for (this._root && t.push(new X(this._root, this._x0, this._y0, this._x1, this._y1)); r = t.pop();) {
		var i = r.node;
		if (i.length) {
			var a, o = r.x0, s = r.y0, c = r.x1, l = r.y1, u = (o + c) / 2, d = (s + l) / 2;
			(a = i[0]) && t.push(new X(a, o, s, u, d)), (a = i[1]) && t.push(new X(a, u, s, c, d)), (a = i[2]) && t.push(new X(a, o, d, u, l)), (a = i[3]) && t.push(new X(a, u, d, c, l));
		}
		n.push(r);
	}
	for (; r = n.pop();) e(r.node, r.x0, r.y0, r.x1, r.y1);
	return this;
}
function Es(e) {
	return e[0];
}
function Ds(e) {
	return arguments.length ? (this._x = e, this) : this._x;
}
function Os(e) {
	return e[1];
}
function ks(e) {
	return arguments.length ? (this._y = e, this) : this._y;
}
function As(e, t, n) {
	var r = new js(t ?? Es, n ?? Os, NaN, NaN, NaN, NaN);
	return e == null ? r : r.addAll(e);
}
function js(e, t, n, r, i, a) {
	this._x = e, this._y = t, this._x0 = n, this._y0 = r, this._x1 = i, this._y1 = a, this._root = void 0;
}
function Ms(e) {
	for (var t = { data: e.data }, n = t; e = e.next;) n = n.next = { data: e.data };
	return t;
}
var Z = As.prototype = js.prototype;
Z.copy = function() {
	var e = new js(this._x, this._y, this._x0, this._y0, this._x1, this._y1), t = this._root, n, r;
	if (!t) return e;
	if (!t.length) return e._root = Ms(t), e;
	for (n = [{
		source: t,
		target: e._root = [
			,
			,
			,
			,
		]
	}]; t = n.pop();) for (var i = 0; i < 4; ++i) (r = t.source[i]) && (r.length ? n.push({
		source: r,
		target: t.target[i] = [
			,
			,
			,
			,
		]
	}) : t.target[i] = Ms(r));
	return e;
}, Z.add = ps, Z.addAll = hs, Z.cover = gs, Z.data = _s, Z.extent = vs, Z.find = ys, Z.remove = bs, Z.removeAll = xs, Z.root = Ss, Z.size = Cs, Z.visit = ws, Z.visitAfter = Ts, Z.x = Ds, Z.y = ks;
// node_modules/d3-force/dist/d3-force.mjs
function Q(e) {
	return function() {
		return e;
	};
}
function $(e) {
	return (e() - .5) * 1e-6;
}
function Ns(e) {
	return e.x + e.vx;
}
function Ps(e) {
	return e.y + e.vy;
}
function Fs(e) {
	var t, n, r, i = 1, a = 1;
	typeof e != "function" && (e = Q(e == null ? 1 : +e));
	function o() {
		for (var e, o = t.length, c, l, u, d, f, p, m = 0; m < a; ++m) for (c = As(t, Ns, Ps).visitAfter(s), e = 0; e < o; ++e) l = t[e], f = n[l.index], p = f * f, u = l.x + l.vx, d = l.y + l.vy, c.visit(h);
		function h(e, t, n, a, o) {
			var s = e.data, c = e.r, m = f + c;
			if (s) {
				if (s.index > l.index) {
					var h = u - s.x - s.vx, g = d - s.y - s.vy, _ = h * h + g * g;
					_ < m * m && (h === 0 && (h = $(r), _ += h * h), g === 0 && (g = $(r), _ += g * g), _ = (m - (_ = Math.sqrt(_))) / _ * i, l.vx += (h *= _) * (m = (c *= c) / (p + c)), l.vy += (g *= _) * m, s.vx -= h * (m = 1 - m), s.vy -= g * m);
				}
			} else return t > u + m || a < u - m || n > d + m || o < d - m;
		}
	}
	function s(e) {
		if (e.data) return e.r = n[e.data.index];
		for (var t = e.r = 0; t < 4; ++t) e[t] && e[t].r > e.r && (e.r = e[t].r);
	}
	function c() {
		if (t) {
			var r, i = t.length, a;
			for (n = Array(i), r = 0; r < i; ++r) a = t[r], n[a.index] = +e(a, r, t);
		}
	}
	return o.initialize = function(e, n) {
		t = e, r = n, c();
	}, o.iterations = function(e) {
		return arguments.length ? (a = +e, o) : a;
	}, o.strength = function(e) {
		return arguments.length ? (i = +e, o) : i;
	}, o.radius = function(t) {
		return arguments.length ? (e = typeof t == "function" ? t : Q(+t), c(), o) : e;
	}, o;
}
function Is(e) {
	return e.index;
}
function Ls(e, t) {
	var n = e.get(t);
	if (!n) throw Error("node not found: " + t);
	return n;
}
function Rs(e) {
	var t = Is, n = d, r, i = Q(30), a, o, s, c, l, u = 1;
	e ??= [];
	function d(e) {
		return 1 / Math.min(s[e.source.index], s[e.target.index]);
	}
	function f(t) {
		for (var n = 0, i = e.length; n < u; ++n) for (var o = 0, s, d, f, p, m, h, g; o < i; ++o) s = e[o], d = s.source, f = s.target, p = f.x + f.vx - d.x - d.vx || $(l), m = f.y + f.vy - d.y - d.vy || $(l), h = Math.sqrt(p * p + m * m), h = (h - a[o]) / h * t * r[o], p *= h, m *= h, f.vx -= p * (g = c[o]), f.vy -= m * g, d.vx += p * (g = 1 - g), d.vy += m * g;
	}
	function p() {
		if (o) {
			var n, i = o.length, l = e.length, u = new Map(o.map((e, n) => [t(e, n, o), e])), d;
			for (n = 0, s = Array(i); n < l; ++n) d = e[n], d.index = n, typeof d.source != "object" && (d.source = Ls(u, d.source)), typeof d.target != "object" && (d.target = Ls(u, d.target)), s[d.source.index] = (s[d.source.index] || 0) + 1, s[d.target.index] = (s[d.target.index] || 0) + 1;
			for (n = 0, c = Array(l); n < l; ++n) d = e[n], c[n] = s[d.source.index] / (s[d.source.index] + s[d.target.index]);
			r = Array(l), m(), a = Array(l), h();
		}
	}
	function m() {
		if (o) for (var t = 0, i = e.length; t < i; ++t) r[t] = +n(e[t], t, e);
	}
	function h() {
		if (o) for (var t = 0, n = e.length; t < n; ++t) a[t] = +i(e[t], t, e);
	}
	return f.initialize = function(e, t) {
		o = e, l = t, p();
	}, f.links = function(t) {
		return arguments.length ? (e = t, p(), f) : e;
	}, f.id = function(e) {
		return arguments.length ? (t = e, f) : t;
	}, f.iterations = function(e) {
		return arguments.length ? (u = +e, f) : u;
	}, f.strength = function(e) {
		return arguments.length ? (n = typeof e == "function" ? e : Q(+e), m(), f) : n;
	}, f.distance = function(e) {
		return arguments.length ? (i = typeof e == "function" ? e : Q(+e), h(), f) : i;
	}, f;
}
var zs = 1664525, Bs = 1013904223, Vs = 4294967296;
function Hs() {
	let e = 1;
	return () => (e = (zs * e + Bs) % Vs) / Vs;
}
function Us(e) {
	return e.x;
}
function Ws(e) {
	return e.y;
}
var Gs = 10, Ks = Math.PI * (3 - Math.sqrt(5));
function qs(e) {
	var t, n = 1, r = .001, i = 1 - r ** (1 / 300), a = 0, o = .6, s = /* @__PURE__ */ new Map(), c = va(d), l = ur("tick", "end"), u = Hs();
	e ??= [];
	function d() {
		f(), l.call("tick", t), n < r && (c.stop(), l.call("end", t));
	}
	function f(r) {
		var c, l = e.length, u;
		r === void 0 && (r = 1);
		for (var d = 0; d < r; ++d) for (n += (a - n) * i, s.forEach(function(e) {
			e(n);
		}), c = 0; c < l; ++c) u = e[c], u.fx == null ? u.x += u.vx *= o : (u.x = u.fx, u.vx = 0), u.fy == null ? u.y += u.vy *= o : (u.y = u.fy, u.vy = 0);
		return t;
	}
	function p() {
		for (var t = 0, n = e.length, r; t < n; ++t) {
			if (r = e[t], r.index = t, r.fx != null && (r.x = r.fx), r.fy != null && (r.y = r.fy), isNaN(r.x) || isNaN(r.y)) {
				var i = Gs * Math.sqrt(.5 + t), a = t * Ks;
				r.x = i * Math.cos(a), r.y = i * Math.sin(a);
			}
			(isNaN(r.vx) || isNaN(r.vy)) && (r.vx = r.vy = 0);
		}
	}
	function m(t) {
		return t.initialize && t.initialize(e, u), t;
	}
	return p(), t = {
		tick: f,
		restart: function() {
			return c.restart(d), t;
		},
		stop: function() {
			return c.stop(), t;
		},
		nodes: function(n) {
			return arguments.length ? (e = n, p(), s.forEach(m), t) : e;
		},
		alpha: function(e) {
			return arguments.length ? (n = +e, t) : n;
		},
		alphaMin: function(e) {
			return arguments.length ? (r = +e, t) : r;
		},
		alphaDecay: function(e) {
			return arguments.length ? (i = +e, t) : +i;
		},
		alphaTarget: function(e) {
			return arguments.length ? (a = +e, t) : a;
		},
		velocityDecay: function(e) {
			return arguments.length ? (o = 1 - e, t) : 1 - o;
		},
		randomSource: function(e) {
			return arguments.length ? (u = e, s.forEach(m), t) : u;
		},
		force: function(e, n) {
			return arguments.length > 1 ? (n == null ? s.delete(e) : s.set(e, m(n)), t) : s.get(e);
		},
		find: function(t, n, r) {
			var i = 0, a = e.length, o, s, c, l, u;
			for (r == null ? r = Infinity : r *= r, i = 0; i < a; ++i) l = e[i], o = t - l.x, s = n - l.y, c = o * o + s * s, c < r && (u = l, r = c);
			return u;
		},
		on: function(e, n) {
			return arguments.length > 1 ? (l.on(e, n), t) : l.on(e);
		}
	};
}
function Js() {
	var e, t, n, r, i = Q(-30), a, o = 1, s = Infinity, c = .81;
	function l(n) {
		var i, a = e.length, o = As(e, Us, Ws).visitAfter(d);
		for (r = n, i = 0; i < a; ++i) t = e[i], o.visit(f);
	}
	function u() {
		if (e) {
			var t, n = e.length, r;
			for (a = Array(n), t = 0; t < n; ++t) r = e[t], a[r.index] = +i(r, t, e);
		}
	}
	function d(e) {
		var t = 0, n, r, i = 0, o, s, c;
		if (e.length) {
			for (o = s = c = 0; c < 4; ++c) (n = e[c]) && (r = Math.abs(n.value)) && (t += n.value, i += r, o += r * n.x, s += r * n.y);
			e.x = o / i, e.y = s / i;
		} else {
			n = e, n.x = n.data.x, n.y = n.data.y;
			do
				t += a[n.data.index];
			while (n = n.next);
		}
		e.value = t;
	}
	function f(e, i, l, u) {
		if (!e.value) return !0;
		var d = e.x - t.x, f = e.y - t.y, p = u - i, m = d * d + f * f;
		if (p * p / c < m) return m < s && (d === 0 && (d = $(n), m += d * d), f === 0 && (f = $(n), m += f * f), m < o && (m = Math.sqrt(o * m)), t.vx += d * e.value * r / m, t.vy += f * e.value * r / m), !0;
		if (!(e.length || m >= s)) {
			(e.data !== t || e.next) && (d === 0 && (d = $(n), m += d * d), f === 0 && (f = $(n), m += f * f), m < o && (m = Math.sqrt(o * m)));
			do
				e.data !== t && (p = a[e.data.index] * r / m, t.vx += d * p, t.vy += f * p);
			while (e = e.next);
		}
	}
	return l.initialize = function(t, r) {
		e = t, n = r, u();
	}, l.strength = function(e) {
		return arguments.length ? (i = typeof e == "function" ? e : Q(+e), u(), l) : i;
	}, l.distanceMin = function(e) {
		return arguments.length ? (o = e * e, l) : Math.sqrt(o);
	}, l.distanceMax = function(e) {
		return arguments.length ? (s = e * e, l) : Math.sqrt(s);
	}, l.theta = function(e) {
		return arguments.length ? (c = e * e, l) : Math.sqrt(c);
	}, l;
}
function Ys(e) {
	var t = Q(.1), n, r, i;
	typeof e != "function" && (e = Q(e == null ? 0 : +e));
	function a(e) {
		for (var t = 0, a = n.length, o; t < a; ++t) o = n[t], o.vx += (i[t] - o.x) * r[t] * e;
	}
	function o() {
		if (n) {
			var a, o = n.length;
			for (r = Array(o), i = Array(o), a = 0; a < o; ++a) r[a] = isNaN(i[a] = +e(n[a], a, n)) ? 0 : +t(n[a], a, n);
		}
	}
	return a.initialize = function(e) {
		n = e, o();
	}, a.strength = function(e) {
		return arguments.length ? (t = typeof e == "function" ? e : Q(+e), o(), a) : t;
	}, a.x = function(t) {
		return arguments.length ? (e = typeof t == "function" ? t : Q(+t), o(), a) : e;
	}, a;
}
function Xs(e) {
	var t = Q(.1), n, r, i;
	typeof e != "function" && (e = Q(e == null ? 0 : +e));
	function a(e) {
		for (var t = 0, a = n.length, o; t < a; ++t) o = n[t], o.vy += (i[t] - o.y) * r[t] * e;
	}
	function o() {
		if (n) {
			var a, o = n.length;
			for (r = Array(o), i = Array(o), a = 0; a < o; ++a) r[a] = isNaN(i[a] = +e(n[a], a, n)) ? 0 : +t(n[a], a, n);
		}
	}
	return a.initialize = function(e) {
		n = e, o();
	}, a.strength = function(e) {
		return arguments.length ? (t = typeof e == "function" ? e : Q(+e), o(), a) : t;
	}, a.y = function(t) {
		return arguments.length ? (e = typeof t == "function" ? t : Q(+t), o(), a) : e;
	}, a;
}
var Zs = 3, Qs = (e) => e.length > 20 ? e.slice(0, 19) + "…" : e, $s = (e) => e.width < 600 ? {
	font: 12,
	wide: 6.9,
	around: 18
} : {
	font: 14,
	wide: 7.8,
	around: 32
}, ec = (e, t) => e.edges.length > 400 && (t === "all" || t === "" && e.nodes.length <= 60) ? e.edges[399].strength : 0, tc = (e, t) => t.strength - e.strength, nc = (e) => e.every((t) => t.direction === e[0].direction) ? e[0].direction : 0;
function rc(e, t, n, r) {
	let i = e.edges.filter((e) => e.strength >= t), a = e.groups.filter((e) => e.strength >= t), o = /* @__PURE__ */ new Map(), s = (e, t) => o.set(e, (o.get(e) ?? 0) + t);
	for (let e of i) s(e.a, e.strength), s(e.b, e.strength);
	for (let e of a) for (let t of e.members) s(t, e.strength / e.members.length);
	let c = e.nodes.length > 45 ? e.nodes.filter((e) => o.has(e.name) || e.name === r) : e.nodes, l = /* @__PURE__ */ new Map();
	for (let e of c) l.set(e.community, [...l.get(e.community) ?? [], e.name]);
	for (let e of l.values()) e.sort((e, t) => (o.get(t) ?? 0) - (o.get(e) ?? 0));
	let u = n === "" ? c.length > 60 && r === null ? "none" : "all" : n, d = (e) => l.get(e).length >= Zs && (u === "none" || u !== "all" && !u.split(",").includes(String(e))), f = (e) => `${e.slice(0, 2).map(Qs).join(", ")}${e.length > 2 ? ` +${e.length - 2}` : ""}`, p = /* @__PURE__ */ new Map(), m = [];
	for (let [e, t] of l) {
		let n = t.reduce((e, t) => e + (o.get(t) ?? 0), 0);
		if (d(e)) {
			let r = {
				id: `community ${e}`,
				label: f(t),
				members: t,
				community: e,
				folded: !0,
				strength: n
			};
			m.push(r);
			for (let e of t) p.set(e, r);
		} else for (let n of t) {
			let t = {
				id: n,
				label: Qs(n),
				members: [n],
				community: e,
				folded: !1,
				strength: o.get(n) ?? 0
			};
			m.push(t), p.set(n, t);
		}
	}
	return {
		items: m.sort(tc),
		lines: ac(i, p),
		groups: a.filter((e) => e.members.every((e) => p.has(e) && !p.get(e).folded)),
		communities: [...l].filter(([, e]) => e.length >= Zs).map(([e, t]) => ({
			id: e,
			label: f(t),
			size: t.length,
			folded: d(e)
		})),
		least: t,
		pairs: i.length,
		alone: e.nodes.length - c.length
	};
}
function ic(e, t) {
	let n = new Set(e.lines.flatMap((e) => [e.a, e.b]));
	return e.groups.slice(t).filter((e) => e.members.some((e) => !n.has(e)));
}
function ac(e, t) {
	let n = /* @__PURE__ */ new Map();
	for (let r of e) {
		let e = t.get(r.a), i = t.get(r.b);
		if (!e || !i || e === i) continue;
		let a = JSON.stringify([e.id, i.id].sort());
		n.set(a, [...n.get(a) ?? [], r]);
	}
	return [...n].map(([e, t]) => {
		let [n, r] = JSON.parse(e), i = t.reduce((e, t) => e + t.strength, 0), a = t.length === 1 ? t[0].words : `${t.length} pairs, the strongest: ${t[0].words}`;
		return {
			a: n,
			b: r,
			strength: i,
			direction: nc(t),
			approximate: t.some((e) => e.approximate),
			words: a,
			pairs: t.length
		};
	}).sort(tc);
}
function oc(e, t, n) {
	let { wide: r, around: i } = $s(n), a = e.items.length <= 45, o = e.items.map((n, a) => {
		let o = 2 * Math.PI * a / e.items.length, s = i + r * n.label.length;
		return {
			item: n,
			x: 200 * Math.cos(o),
			y: 130 * Math.sin(o),
			width: s,
			room: Math.max(s, 6.6 * t(n).length)
		};
	});
	sc(o, e, a);
	let s = a ? o.reduce((e, t) => e + 2.4 * (t.room + 16) * 58, 0) : o.length * 2600, c = a ? s / n.width : Math.min(s / n.width, 1.5 * n.width, 1e3), l = {
		width: n.width,
		height: Math.max(n.height, c)
	};
	return cc(o, l, a), {
		places: new Map(o.map((e) => [e.item.id, e])),
		pane: l
	};
}
function sc(e, t, n) {
	let r = Math.max(...t.lines.map((e) => e.strength), 1e-9), i = t.lines.map((e) => ({
		source: e.a,
		target: e.b,
		weight: e.strength / r
	}));
	for (let e of [...t.groups.slice(0, 8), ...ic(t, 8)]) for (let t of e.members.slice(1)) i.push({
		source: e.members[0],
		target: t,
		weight: .05
	});
	let a = new Set(i.flatMap((e) => [e.source, e.target])), o = (e) => (t) => a.has(t.item.id) ? e : .2, s = n ? e.length > 30 ? 80 : 170 : 30;
	qs(e).force("link", Rs(i).id((e) => e.item.id).distance(s).strength((e) => .03 + .35 * Math.sqrt(e.weight))).force("charge", Js().strength(n ? e.length > 30 ? -420 : -1300 : -90)).force("apart", Fs((e) => n ? e.room / 2 + 10 : 14)).force("x", Ys(0).strength(o(.05))).force("y", Xs(0).strength(o(n ? .11 : .07))).stop().tick(e.length > 150 ? 160 : 320);
}
function cc(e, t, n) {
	let r = (t, n, r) => {
		let i = Math.min(...e.map((e) => e[t])), a = Math.max(...e.map((e) => e[t]));
		for (let o of e) o[t] = n(o) + (a > i ? (o[t] - i) / (a - i) : .5) * (r(o) - n(o));
	}, i = (e) => n ? e.room / 2 + 6 : Math.min(50, t.width / 8), a = (e) => i(e), o = (e) => t.width - i(e), s = () => 25, c = () => t.height - 15 - 16 - 10;
	r("x", a, o), r("y", s, c);
	for (let t = 0; n && t < 300; t++) {
		let t = !1;
		e.forEach((n, r) => e.slice(r + 1).forEach((e) => {
			let r = (n.room + e.room) / 2 + 12 - Math.abs(n.x - e.x), i = 56 - Math.abs(n.y - e.y);
			if (r <= .01 || i <= .01) return;
			t = !0;
			let a = r < i ? "x" : "y", o = Math.min(r, i) / 2 * (n[a] < e[a] ? -1 : 1);
			n[a] += o, e[a] -= o;
		}));
		for (let t of e) t.x = Math.min(Math.max(t.x, a(t)), o(t)), t.y = Math.min(Math.max(t.y, s()), c());
		if (!t) return;
	}
}
function lc(e, t) {
	let { wide: n } = $s(t), r = [], i = /* @__PURE__ */ new Map(), a = (e, t) => e[0] < t[2] && t[0] < e[2] && e[1] < t[3] && t[1] < e[3], o = e.map((e) => [
		e.x - 5,
		e.y - 5,
		e.x + 5,
		e.y + 5
	]), s = (e, t) => !r.some((t) => a(e, t)) && !o.some((n, r) => r !== t && a(e, n));
	return e.forEach((a, o) => {
		let c = [
			a.x - a.room / 2,
			a.y - 15,
			a.x + a.room / 2,
			a.y + 15 + 16
		], l = .95 * n * a.label.length + 6, u = [
			[{ kind: "pill" }, c],
			[{
				kind: "named",
				dx: 9,
				dy: 4,
				anchor: "start"
			}, [
				a.x + 5,
				a.y - 8,
				a.x + 5 + l,
				a.y + 8
			]],
			[{
				kind: "named",
				dx: -9,
				dy: 4,
				anchor: "end"
			}, [
				a.x - 5 - l,
				a.y - 8,
				a.x - 5,
				a.y + 8
			]],
			[{
				kind: "named",
				dx: 0,
				dy: -10,
				anchor: "middle"
			}, [
				a.x - l / 2,
				a.y - 5 - 18,
				a.x + l / 2,
				a.y - 5
			]],
			[{
				kind: "named",
				dx: 0,
				dy: 19,
				anchor: "middle"
			}, [
				a.x - l / 2,
				a.y + 5,
				a.x + l / 2,
				a.y + 5 + 18
			]]
		], d = u.find(([, e]) => e[0] >= 0 && e[2] <= t.width && s(e, o)) ?? (e.length <= 45 && s(c, o) ? u[0] : void 0);
		d && r.push(d[1]), i.set(a.id, d ? d[0] : { kind: "dot" });
	}), i;
}
function uc(e) {
	let t = [...e].sort((e, t) => e[0] - t[0] || e[1] - t[1]), n = (e) => {
		let t = [];
		for (let n of e) {
			for (; t.length > 1;) {
				let [e, r] = t.slice(-2);
				if ((r[0] - e[0]) * (n[1] - e[1]) - (r[1] - e[1]) * (n[0] - e[0]) > 0) break;
				t.pop();
			}
			t.push(n);
		}
		return t.slice(0, -1);
	};
	return t.length > 2 ? [...n(t), ...n(t.reverse())] : t;
}
var dc = (e) => e > 0 ? "with" : e < 0 ? "against" : "neither", fc = (e) => ({
	width: 1 + 5.5 * e ** .6,
	opacity: .4 + .55 * e ** .5
});
function pc(e) {
	let { width: t, opacity: n } = fc(e.share ?? .4);
	return /* @__PURE__ */ F("svg", {
		class: "graph-key",
		width: "30",
		height: "12",
		"aria-hidden": "true",
		children: /* @__PURE__ */ F("line", {
			class: e.name,
			x1: "0",
			y1: "6",
			x2: "30",
			y2: "6",
			"stroke-width": t,
			"stroke-opacity": n
		})
	});
}
function mc(e) {
	let { graph: t, drawn: n, clamped: r } = e, i = new Set(n.lines.map((e) => dc(e.direction))), a = n.groups.slice(0, 4), o = n.lines.filter((e) => e.approximate).length, s = n.lines.some((e) => e.pairs > 1), c = e.looks.some((e) => e.kind === "dot"), l = e.looks.some((e) => e.kind === "named"), u = t.edges.some((e) => e.direction === 0 && e.kind !== null) || s;
	return /* @__PURE__ */ F("ul", {
		class: "legend",
		"aria-label": "legend",
		children: [
			i.has("with") && /* @__PURE__ */ F("li", { children: [/* @__PURE__ */ F(pc, { name: "with" }), " goes with"] }),
			i.has("against") && /* @__PURE__ */ F("li", { children: [/* @__PURE__ */ F(pc, { name: "against" }), " goes against"] }),
			i.has("neither") && /* @__PURE__ */ F("li", { children: [
				/* @__PURE__ */ F(pc, { name: "neither" }),
				" ",
				u ? "no single direction" : "joined; no direction is given"
			] }),
			t.total_edges > t.edges.length && /* @__PURE__ */ F("li", { children: [
				"the strongest ",
				t.edges.length.toLocaleString("en"),
				" of ",
				t.total_edges.toLocaleString("en"),
				" pairs"
			] }),
			i.size > 0 && /* @__PURE__ */ F("li", { children: [
				/* @__PURE__ */ F(pc, {
					name: "width",
					share: 0
				}),
				/* @__PURE__ */ F(pc, {
					name: "width",
					share: 1
				}),
				" width and opacity grow with ",
				t.measure,
				s && ", summed between communities",
				o > 0 && (o === n.lines.length ? " (approximate)" : " (some approximate)")
			] }),
			a.length > 0 && /* @__PURE__ */ F("li", { children: ["shaded: joined by an interaction of three or more variables", n.groups.length > a.length && `, the strongest ${a.length} of ${t.total_groups.toLocaleString("en")}`] }),
			a.map((e, t) => /* @__PURE__ */ F("li", {
				title: e.words,
				children: [/* @__PURE__ */ F("i", { class: `group shade${t}` }), e.members.join(", ")]
			})),
			ic(n, 4).length > 0 && /* @__PURE__ */ F("li", { children: [
				/* @__PURE__ */ F("svg", {
					class: "graph-key",
					width: "30",
					height: "14",
					"aria-hidden": "true",
					children: [/* @__PURE__ */ F("path", {
						class: "spoke",
						d: "M1,12 15,7 29,12 M15,7 15,0"
					}), /* @__PURE__ */ F("rect", {
						class: "hub",
						x: "12",
						y: "4",
						width: "6",
						height: "6"
					})]
				}),
				" joined by ",
				a.length > 0 ? "another" : "an",
				" interaction of three or more variables"
			] }),
			n.items.some((e) => e.folded) && /* @__PURE__ */ F("li", { children: [/* @__PURE__ */ F("i", { class: "folded" }), " folded: variables that are joined more strongly with each other than with the rest"] }),
			n.items.some((e) => !e.folded) && e.looks.some((e) => e.kind === "pill") && /* @__PURE__ */ F("li", { children: [/* @__PURE__ */ F("i", { class: "level" }), " fill: probability of the level below the name, the likeliest one"] }),
			(c || l) && /* @__PURE__ */ F("li", { children: [
				/* @__PURE__ */ F("i", { class: "dot" }),
				" ",
				c ? "a variable or community without room for its name; zoom in, or point at it" : "a variable without room for its level; zoom in"
			] }),
			r && /* @__PURE__ */ F("li", { children: [/* @__PURE__ */ F("i", { class: "clamped" }), " clamped, or with levels excluded"] })
		]
	});
}
// src/saving.ts
function hc(e, t, n = "text/plain") {
	let r = URL.createObjectURL(t instanceof Blob ? t : new Blob([t], { type: n }));
	Object.assign(document.createElement("a"), {
		href: r,
		download: e
	}).click(), setTimeout(() => URL.revokeObjectURL(r), 1e4);
}
var gc = [
	"fill",
	"fill-opacity",
	"stroke",
	"stroke-width",
	"stroke-opacity",
	"stroke-dasharray",
	"stroke-linejoin",
	"opacity",
	"font-family",
	"font-size",
	"font-weight",
	"text-anchor",
	"paint-order",
	"display",
	"visibility"
];
function _c(e) {
	let t = e.cloneNode(!0), n = e.querySelectorAll("*"), r = t.querySelectorAll("*");
	n.forEach((e, t) => {
		let n = getComputedStyle(e), i = r[t];
		i.removeAttribute("class"), i.setAttribute("style", gc.map((e) => `${e}:${n.getPropertyValue(e)}`).join(";"));
	});
	let { width: i, height: a } = e.viewBox.baseVal;
	return t.setAttribute("xmlns", "http://www.w3.org/2000/svg"), t.setAttribute("width", String(i)), t.setAttribute("height", String(a)), t.setAttribute("style", `background:${getComputedStyle(document.body).backgroundColor}`), new XMLSerializer().serializeToString(t);
}
async function vc(e, t, n) {
	let r = _c(t);
	if (n === "svg") return hc(`${e}.svg`, r, "image/svg+xml");
	let i = new Image();
	i.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(r)}`, await i.decode();
	let { width: a, height: o } = t.viewBox.baseVal, s = Object.assign(document.createElement("canvas"), {
		width: 2 * a,
		height: 2 * o
	}), c = s.getContext("2d");
	c.fillStyle = getComputedStyle(document.body).backgroundColor, c.fillRect(0, 0, s.width, s.height), c.drawImage(i, 0, 0, s.width, s.height);
	let l = await new Promise((e) => s.toBlob(e, "image/png"));
	l && hc(`${e}.png`, l);
}
// src/graph.tsx
var yc = (e, t) => `${e.words}: ${t} ${Xe(e.strength, e.approximate)}`;
function bc(e, { variables: t, now: n, given: r }) {
	if (e.folded) return {
		share: 0,
		text: `${e.members.length} variables`,
		clamped: e.members.some((e) => e in r)
	};
	let i = t.get(e.id), a = n[e.id] ?? i?.prior ?? [], o = r[e.id];
	if (o !== void 0 && !Array.isArray(o)) return {
		share: 1,
		text: `= ${Qs(String(o))}`,
		clamped: !0
	};
	let s = a.indexOf(Math.max(...a)), c = a[s] ?? 0;
	return {
		share: c,
		text: i && s >= 0 ? `${Qs(String(i.levels[s]))} ${qe(c)}` : "",
		clamped: o !== void 0
	};
}
var xc = (e) => (t) => t.folded ? `${t.members.length} variables` : "x".repeat(Math.max(...(e.get(t.id)?.levels ?? []).map((e) => Qs(String(e)).length), 0)) + " 100.0%";
function Sc(e) {
	let { item: t, x: n, y: r, width: i, look: a, font: o, facts: s, doing: c } = e, { share: l, text: u, clamped: d } = bc(t, s), f = `${d ? " clamped" : ""}${e.focus ? " focus" : ""}${t.folded ? " folded" : ""}`, p = t.folded ? `open the community of ${t.members.slice(0, 3).join(", ")}: ${u}` : void 0;
	return /* @__PURE__ */ F("g", {
		class: `node ${a.kind}${f}`,
		tabindex: 0,
		role: "button",
		transform: `translate(${n} ${r})`,
		"aria-pressed": t.folded ? void 0 : d,
		"aria-label": p ?? (a.kind === "pill" ? void 0 : `${t.id} ${u}`),
		onClick: (e) => e.shiftKey && !t.folded ? c.look(t.id) : c.press(t),
		onMouseEnter: () => c.point(t.id),
		onMouseLeave: () => c.point(null),
		onFocus: (e) => {
			e.currentTarget.matches(":focus-visible") && (c.point(t.id), c.show(n, r));
		},
		onBlur: () => c.point(null),
		onKeyDown: (e) => {
			(e.key === "Enter" || e.key === " ") && (e.preventDefault(), c.press(t)), e.key === "f" && !t.folded && c.look(t.id);
		},
		children: a.kind === "pill" ? /* @__PURE__ */ F(y, { children: [
			/* @__PURE__ */ F("rect", {
				class: "body",
				x: -i / 2,
				y: -15,
				width: i,
				height: 30,
				rx: 15
			}),
			!t.folded && /* @__PURE__ */ F("svg", {
				x: -i / 2,
				y: -15,
				width: i,
				height: 30,
				"aria-hidden": "true",
				children: /* @__PURE__ */ F("rect", {
					class: "level",
					width: i * l,
					height: 30,
					rx: 15
				})
			}),
			/* @__PURE__ */ F("rect", {
				class: "line",
				x: -i / 2,
				y: -15,
				width: i,
				height: 30,
				rx: t.folded ? 6 : 15
			}),
			/* @__PURE__ */ F("text", {
				"text-anchor": "middle",
				dy: ".35em",
				style: { fontSize: `${o}px` },
				children: [t.label, " "]
			}),
			/* @__PURE__ */ F("text", {
				class: "told",
				"text-anchor": "middle",
				y: 28,
				children: u
			})
		] }) : /* @__PURE__ */ F(y, { children: [
			/* @__PURE__ */ F("circle", {
				class: "reach",
				r: 12
			}),
			/* @__PURE__ */ F("circle", {
				class: "line",
				r: t.folded ? 8 : 5
			}),
			a.kind === "named" && /* @__PURE__ */ F("text", {
				class: "label",
				x: a.dx,
				y: a.dy,
				"text-anchor": a.anchor,
				style: { fontSize: `${o - 2}px` },
				children: t.label
			})
		] })
	});
}
function Cc(e) {
	let [t, n] = P({
		width: 960,
		height: 600
	});
	return Ee(() => {
		let t = () => {
			let t = Math.max(e.current.clientWidth, 200), r = Math.min(Math.max(.62 * innerHeight, 320), 700);
			n((e) => Math.abs(e.width - t) < 2 && Math.abs(e.height - r) < 40 ? e : {
				width: t,
				height: r
			});
		};
		t();
		let r = new ResizeObserver(t);
		return r.observe(e.current), () => r.disconnect();
	}, []), t;
}
function wc(e, t) {
	let [n, r] = P(ns), i = De(null);
	return Te(() => {
		let t = 0;
		i.current = fs().scaleExtent([.3, 12]).filter((e) => !e.ctrlKey && !e.button && (e.type !== "touchstart" || e.touches.length > 1)).on("zoom", (e) => {
			cancelAnimationFrame(t), t = requestAnimationFrame(() => r(e.transform));
		});
		let n = L(e.current);
		return n.call(i.current).call(i.current.transform, ns).on("dblclick.zoom", null), () => {
			cancelAnimationFrame(t), n.on(".zoom", null);
		};
	}, [t]), {
		at: n,
		by: (t) => i.current?.scaleBy(L(e.current), t),
		move: (t, r) => i.current?.translateBy(L(e.current), t / n.k, r / n.k),
		whole: () => i.current?.transform(L(e.current), ns)
	};
}
function Tc(e) {
	let { graph: t, drawn: n, facts: r, focus: i } = e, a = De(null), o = De(null), s = Cc(o), { places: c, pane: l } = Oe(() => oc(n, xc(r.variables), s), [
		n,
		r.variables,
		s
	]), { at: u, by: d, move: f, whole: p } = wc(a, c), [m, h] = P(null), { font: g } = $s(s), _ = Math.max(...n.lines.map((e) => e.strength), 1e-9), v = Oe(() => [...c.values()].map((e) => ({
		...e,
		x: u.applyX(e.x),
		y: u.applyY(e.y)
	})), [c, u]), y = Oe(() => {
		let e = (e) => e.id === i ? 2 : +!!e.members.some((e) => e in r.given);
		return lc([...v].sort((t, n) => e(n.item) - e(t.item) || n.item.strength - t.item.strength).map(({ item: e, x: t, y: n, width: r, room: i }) => ({
			id: e.id,
			label: e.label,
			x: t,
			y: n,
			width: r,
			room: i
		})), l);
	}, [
		v,
		i,
		Object.keys(r.given).join()
	]), b = new Map(v.map((e) => [e.item.id, e])), x = {
		press: e.press,
		look: e.look,
		point: h,
		show: (e, t) => {
			let n = (e, t) => e < 30 ? 30 - e : e > t - 30 ? t - 30 - e : 0, r = n(e, l.width), i = n(t, l.height);
			(r || i) && f(r, i);
		}
	}, S = {
		dot: 0,
		named: 1,
		pill: 2
	}, C = [...v].sort((e, t) => S[y.get(e.item.id).kind] - S[y.get(t.item.id).kind]), w = m !== null && y.get(m)?.kind !== "pill" ? b.get(m) : void 0;
	return /* @__PURE__ */ F("div", {
		ref: o,
		children: [
			/* @__PURE__ */ F(mc, {
				graph: t,
				drawn: n,
				clamped: n.items.some((e) => bc(e, r).clamped),
				looks: [...y.values()]
			}),
			/* @__PURE__ */ F("div", {
				class: "row tools",
				role: "group",
				"aria-label": "picture",
				children: [
					/* @__PURE__ */ F("button", {
						type: "button",
						class: "small",
						"aria-label": "zoom in",
						onClick: () => d(1.5),
						children: "+"
					}),
					/* @__PURE__ */ F("button", {
						type: "button",
						class: "small",
						"aria-label": "zoom out",
						onClick: () => d(1 / 1.5),
						children: "−"
					}),
					/* @__PURE__ */ F("button", {
						type: "button",
						class: "small",
						onClick: p,
						children: "Whole picture"
					}),
					["svg", "png"].map((t) => /* @__PURE__ */ F("button", {
						type: "button",
						class: "small",
						onClick: () => {
							vc(`${e.name}-graph`, a.current, t);
						},
						children: ["Save as ", t.toUpperCase()]
					}))
				]
			}),
			/* @__PURE__ */ F("svg", {
				ref: a,
				class: "graph",
				viewBox: `0 0 ${l.width} ${l.height}`,
				style: { height: `${l.height}px` },
				role: "group",
				"aria-label": "interaction graph",
				children: [
					n.groups.slice(0, 4).map((e, n) => {
						let r = uc(e.members.map((e) => [b.get(e).x, b.get(e).y]));
						return /* @__PURE__ */ F("g", {
							class: `shade shade${n}`,
							children: [/* @__PURE__ */ F("polygon", {
								points: r.map((e) => e.join(",")).join(" "),
								"stroke-width": "46",
								"stroke-linejoin": "round"
							}), /* @__PURE__ */ F("title", { children: yc(e, t.measure) })]
						});
					}),
					[...n.lines].reverse().map((e) => {
						let r = b.get(e.a), i = b.get(e.b), { width: a, opacity: o } = fc(e.strength / _), s = m !== null && n.lines.length > 60 && e.a !== m && e.b !== m;
						return /* @__PURE__ */ F("line", {
							x1: r.x,
							y1: r.y,
							x2: i.x,
							y2: i.y,
							"stroke-width": a,
							"stroke-opacity": s ? .08 : o,
							class: dc(e.direction),
							children: /* @__PURE__ */ F("title", { children: yc(e, t.measure) })
						});
					}),
					ic(n, 4).map((e) => {
						let n = e.members.map((e) => b.get(e)), r = n.reduce((e, t) => e + t.x, 0) / n.length, i = n.reduce((e, t) => e + t.y, 0) / n.length;
						return /* @__PURE__ */ F("g", { children: [
							/* @__PURE__ */ F("path", {
								class: "spoke",
								d: n.map((e) => `M${r},${i} ${e.x},${e.y}`).join(" ")
							}),
							/* @__PURE__ */ F("rect", {
								class: "hub",
								x: r - 4,
								y: i - 4,
								width: 8,
								height: 8
							}),
							/* @__PURE__ */ F("title", { children: yc(e, t.measure) })
						] });
					}),
					C.map(({ item: e, x: t, y: n, width: a }) => /* @__PURE__ */ F(Sc, {
						item: e,
						x: t,
						y: n,
						width: a,
						look: y.get(e.id),
						font: g,
						focus: e.id === i,
						facts: r,
						doing: x
					}, e.id)),
					w && /* @__PURE__ */ F("g", {
						class: "raised",
						"aria-hidden": "true",
						transform: `translate(${Math.min(Math.max(w.x, w.room / 2), l.width - w.room / 2)} ${w.y > 60 ? w.y - 30 - 16 - 4 : w.y + 30})`,
						children: [
							/* @__PURE__ */ F("rect", {
								x: -w.room / 2,
								y: -15,
								width: w.room,
								height: 46,
								rx: 6
							}),
							/* @__PURE__ */ F("text", {
								"text-anchor": "middle",
								dy: ".35em",
								style: { fontSize: `${g}px` },
								children: w.item.label
							}),
							/* @__PURE__ */ F("text", {
								"text-anchor": "middle",
								y: 24,
								class: "told",
								children: bc(w.item, r).text
							})
						]
					})
				]
			})
		]
	});
}
var Ec = (e, t, n) => n > t ? Math.log(Math.max(e, t) / t) / Math.log(n / t) : 0;
function Dc({ graph: e, least: t, set: n }) {
	let r = Qe(n), i = e.edges.map((e) => e.strength).filter((e) => e > 0);
	if (i.length < 2) return null;
	let a = Math.min(...i), o = Math.max(...i), s = Math.round(1e3 * Ec(Math.max(t, a), a, o)), c = (e) => r.to(e <= 0 ? "0" : (a * (o / a) ** (Math.min(e, 999.9) / 1e3)).toPrecision(3)), l = e.edges.filter((e) => e.strength >= t).length;
	return /* @__PURE__ */ F("label", {
		class: "strength",
		children: [
			"Strength ",
			/* @__PURE__ */ F("input", {
				type: "range",
				min: 0,
				max: 1e3,
				value: s,
				"aria-valuetext": `at least ${t.toPrecision(3)} ${e.measure}`,
				onInput: (e) => c(+e.target.value),
				onChange: r.end
			}),
			/* @__PURE__ */ F("span", {
				class: "hint",
				children: [
					t > a ? `at least ${t.toPrecision(3)} ${e.measure}: ` : "",
					l.toLocaleString("en"),
					" of ",
					e.edges.length.toLocaleString("en"),
					" pairs"
				]
			})
		]
	});
}
function Oc({ drawn: e, set: t }) {
	let { communities: n } = e;
	if (n.length < 2) return null;
	let r = n.filter((e) => !e.folded), i = n.length - r.length, a = (e) => r.filter((t) => t.id !== e).map((e) => e.id).join(",") || "none";
	return /* @__PURE__ */ F("div", {
		class: "row",
		role: "group",
		"aria-label": "communities",
		children: [
			/* @__PURE__ */ F("span", {
				class: "hint",
				children: [
					n.length,
					" communities",
					i > 0 && `, ${i} folded`
				]
			}),
			r.length > 0 && /* @__PURE__ */ F("button", {
				type: "button",
				class: "small",
				onClick: () => t("none"),
				children: "Fold all"
			}),
			i > 0 && /* @__PURE__ */ F("button", {
				type: "button",
				class: "small",
				onClick: () => t("all"),
				children: "Open all"
			}),
			i > 0 && r.map((e) => /* @__PURE__ */ F("button", {
				type: "button",
				class: "small",
				onClick: () => t(a(e.id)),
				children: ["fold ", e.label]
			}))
		]
	});
}
function kc({ graph: e, least: t, look: n }) {
	return /* @__PURE__ */ F("ul", {
		class: "strongest",
		"aria-label": "strongest pairs",
		children: e.edges.filter((e) => e.strength >= t).slice(0, 8).map((t) => /* @__PURE__ */ F("li", { children: [
			/* @__PURE__ */ F("button", {
				type: "button",
				class: "link",
				onClick: () => n(t.a),
				children: t.words
			}),
			" ",
			/* @__PURE__ */ F("span", {
				class: "hint",
				children: [
					Xe(t.strength, t.approximate),
					" ",
					e.measure
				]
			})
		] }))
	});
}
function Ac(e) {
	let { ask: t, model: n, given: r, change: i, focus: a, look: o, version: s, seen: c, failed: l } = e, { view: u, set: d } = Ze(e.settings), f = Math.min(6, Math.max(1, Number(u.steps) || 1)), p = Re(() => t.graph(n, a, f), [
		n,
		a,
		f,
		s
	], l), m = p.answer, h = u.open ?? "", g = m ? u.least === void 0 ? ec(m, h) : Number(u.least) || 0 : 0, _ = Oe(() => m ? rc(m, g, h, a) : null, [
		m,
		g,
		h,
		a
	]), v = m?.nodes.map((e) => e.name) ?? [], b = Re(() => v.length ? t.marginals(n, r, v) : null, [
		n,
		r,
		v,
		s
	], l);
	Te(() => {
		b.answer && c(b.answer);
	}, [b.answer]);
	let x = Oe(() => new Map(m?.nodes.map((e) => [e.name, e])), [m]);
	if (!m || !_) return p.wrong ? /* @__PURE__ */ F("pre", {
		class: "wrong",
		role: "alert",
		children: p.wrong
	}) : null;
	let S = {
		variables: x,
		now: b.answer?.marginals ?? {},
		given: r
	};
	return /* @__PURE__ */ F("section", {
		class: "view",
		"aria-label": "Graph",
		children: [
			/* @__PURE__ */ F("div", {
				class: "row",
				children: [
					a === null ? /* @__PURE__ */ F("span", { children: m.nodes.length < m.total_nodes ? `The ${m.nodes.length} of ${m.total_nodes.toLocaleString("en")} variables that are joined most strongly` : "All variables" }) : /* @__PURE__ */ F(y, { children: [
						/* @__PURE__ */ F("span", { children: [
							/* @__PURE__ */ F("b", { children: a }),
							" and its neighbours, up to ",
							f,
							" ",
							f === 1 ? "step" : "steps",
							" away"
						] }),
						/* @__PURE__ */ F("label", { children: ["Steps ", /* @__PURE__ */ F("input", {
							type: "number",
							min: 1,
							max: 6,
							value: f,
							onInput: (e) => d({ steps: e.target.value })
						})] }),
						/* @__PURE__ */ F("button", {
							type: "button",
							onClick: () => o(null),
							children: "Show all"
						})
					] }),
					/* @__PURE__ */ F(Dc, {
						graph: m,
						least: g,
						set: (e, t) => d({ least: e }, t)
					}),
					_.alone > 0 && /* @__PURE__ */ F("span", {
						class: "hint",
						children: [
							_.alone.toLocaleString("en"),
							" ",
							_.alone === 1 ? "variable" : "variables",
							" without such a pair ",
							_.alone === 1 ? "is" : "are",
							" not drawn"
						]
					})
				]
			}),
			/* @__PURE__ */ F(Oc, {
				drawn: _,
				set: (e) => d({ open: e })
			}),
			/* @__PURE__ */ F(kc, {
				graph: m,
				least: g,
				look: o
			}),
			/* @__PURE__ */ F(Tc, {
				graph: m,
				drawn: _,
				facts: S,
				focus: a,
				press: (e) => {
					if (e.folded) {
						let t = _.communities.filter((e) => !e.folded).map((e) => e.id);
						return d({ open: [...t, e.community].join(",") });
					}
					let t = x.get(e.id)?.levels ?? [], n = r[e.id], a = n === void 0 ? -1 : Array.isArray(n) ? t.length : t.indexOf(n);
					i(Ve(r, e.id, a + 1 < t.length ? t[a + 1] : null));
				},
				look: o,
				name: n
			}),
			/* @__PURE__ */ F("p", {
				class: "hint",
				children: "Point at a line or a shade for its words and its numbers. Click a variable to clamp its levels in turn; shift-click to show its neighbours. Keyboard: Tab to reach it, Enter to clamp, f for its neighbours. Drag and scroll, use two fingers, or + and −, to move."
			})
		]
	});
}
// src/header.tsx
var jc = (e, t) => `${e.toLocaleString("en")} ${t}${e === 1 ? "" : "s"}`, Mc = ({ model: e }) => /* @__PURE__ */ F("span", {
	class: "about",
	children: [
		e.kind,
		", ",
		e.n_variables.toLocaleString("en"),
		" variables, ",
		jc(e.n_interactions, e.called),
		e.n_rows > 0 && `, ${e.n_rows.toLocaleString("en")} rows`
	]
}), Nc = ({ store: e }) => /* @__PURE__ */ F("span", {
	class: "steps",
	role: "group",
	"aria-label": "steps",
	children: [
		/* @__PURE__ */ F("button", {
			type: "button",
			disabled: !e.canUndo,
			onClick: () => e.undo(),
			children: "Undo"
		}),
		/* @__PURE__ */ F("button", {
			type: "button",
			disabled: !e.canRedo,
			onClick: () => e.redo(),
			children: "Redo"
		}),
		/* @__PURE__ */ F("button", {
			type: "button",
			onClick: () => e.reset(),
			children: "Reset"
		})
	]
});
// src/messages.ts
function Pc(e) {
	let t = Math.random().toString(36).slice(2), n = /* @__PURE__ */ new Map(), r = 0, i = ({ id: e, wrong: t, answer: r }) => {
		let i = n.get(e);
		n.delete(e), t === null ? i?.resolve({
			...r,
			stale: null
		}) : i?.reject(Error(t));
	};
	e.on("msg:custom", i);
	let a = (i, a) => new Promise((o, s) => {
		let c = `${t}-${r++}`;
		n.set(c, {
			resolve: o,
			reject: s
		}), e.send({
			id: c,
			method: i,
			arguments: a
		});
	});
	return {
		transport: {
			call: (e, t, n) => a(t, n),
			models: () => a("summary", {}).then((e) => [{
				name: e.kind,
				...e
			}])
		},
		close: () => e.off("msg:custom", i)
	};
}
// src/style.css?inline
var Fc = ":root,:host{color-scheme:light dark;--ink:light-dark(#1b1f24,#e8eaed);--muted:light-dark(#56606b,#a7b0ba);--grid:light-dark(#dfe3e8,#343b44);--paper:light-dark(#fff,#14181d);--soft:light-dark(#f4f6f8,#1d232a);--line:light-dark(#8a939d,#77818c);--with:light-dark(#0072b2,#56b4e9);--against:light-dark(#b34700,#f0a35e);--fill:light-dark(#a9d3ee,#1f5f86);--clamp:light-dark(#6a3d9a,#cdb2ec);--on:light-dark(#fff,#14181d);--warn:light-dark(#fff1d6,#3a2f14);--g0:light-dark(#009e73,#2fc79b);--g1:light-dark(#cc3f8f,#f08cc4);--g2:light-dark(#b8a800,#e5da4a);--g3:light-dark(#7d5a3c,#c9a27e)}*{box-sizing:border-box}body{background:var(--paper);color:var(--ink);margin:0;font:15px/1.45 system-ui,Segoe UI,Roboto,Helvetica Neue,Arial,sans-serif}header{border-bottom:1px solid var(--grid);flex-wrap:wrap;align-items:center;gap:.4rem 1.2rem;padding:.7rem 1.2rem;display:flex}h1{letter-spacing:-.01em;margin:0;font-size:1.15rem}select,label{max-width:100%}@media (width>=50.01rem){header .about{flex:9rem}}aside:focus{outline:none}.down{display:none}.about,.hint,.legend{color:var(--muted);font-size:.9rem}.columns{grid-template-columns:minmax(16rem,21rem) minmax(0,1fr);display:grid}aside{border-right:1px solid var(--grid);max-height:calc(100vh - 3.4rem);padding:.9rem 1.1rem 2rem;position:sticky;top:0;overflow-y:auto}main{min-width:0;padding:.9rem 1.2rem 3rem}button,input,select{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.4rem;padding:.25rem .55rem}button{cursor:pointer}button:hover{background:var(--soft)}button.main{background:var(--with);border-color:var(--with);color:var(--on);font-weight:600}button.small{color:var(--muted);border-color:var(--grid);padding:0 .45rem;font-size:.8rem;font-weight:400}:focus-visible{outline:3px solid var(--with);outline-offset:1px}input[type=number]{width:5.5rem}.search{color:var(--muted);font-size:.9rem;display:block}.search input{width:100%;color:var(--ink);margin-top:.15rem;display:block}.given{margin:.7rem 0;font-size:.9rem}.given p{color:var(--muted);margin:.4rem 0}.chip{background:var(--clamp);border-color:var(--clamp);color:var(--on);border-radius:1rem;margin:0 .3rem .3rem 0;font-size:.86rem;font-weight:600}.chip:hover{background:var(--clamp);opacity:.85}.variables{margin:0;padding:0;list-style:none}.variables li{border-top:1px solid var(--grid);padding:.35rem 0 .5rem}.name{overflow-wrap:anywhere;align-items:baseline;font-size:.92rem;font-weight:600;display:flex}.levels{gap:3px;margin-top:3px;display:grid}.level{border-color:var(--grid);text-align:left;border-radius:.3rem;justify-content:space-between;padding:.08rem .5rem;font-size:.86rem;display:flex;position:relative;overflow:hidden}.level .fill,.bar .fill{background:var(--fill);transition:width .25s ease-out;position:absolute;inset:0 auto 0 0}.level .was{background:var(--ink);opacity:.45;width:2px;margin-left:-1px;position:absolute;top:0;bottom:0}.level .text,.level .number{font-variant-numeric:tabular-nums;position:relative}.level[aria-pressed=true]{border-color:var(--clamp);box-shadow:inset 0 0 0 2px var(--clamp);font-weight:700}.bar{background:var(--soft);border-radius:2px;min-width:5rem;height:.65rem;margin:1px 0;display:block;position:relative;overflow:hidden}.bar .fill{background:var(--with);opacity:.85}@media (prefers-reduced-motion:reduce){*{transition:none!important}}.ask form{align-items:center;gap:.6rem;display:flex}.ask label{font-weight:600}.combo{flex:1;position:relative}.combo input{width:100%;padding:.45rem .7rem;font-family:ui-monospace,Menlo,Consolas,monospace}.combo ul{z-index:5;background:var(--paper);border:1px solid var(--line);border-radius:.4rem;margin:2px 0 0;padding:.2rem 0;list-style:none;position:absolute;left:0;right:0;box-shadow:0 6px 18px #0003}.combo li{cursor:pointer;padding:.2rem .7rem}.combo li[aria-selected=true],.combo li:hover{background:var(--with);color:var(--on)}.ask [aria-live]{max-height:17rem;overflow-y:auto}.ask [aria-live]>button{margin-top:.5rem}.asked{margin:.6rem 0}nav{border-bottom:1px solid var(--grid);flex-wrap:wrap;gap:.3rem;margin:.9rem 0 .7rem;display:flex}nav button{border:0;border-bottom:3px solid #0000;border-radius:.3rem .3rem 0 0;padding:.35rem .65rem}nav button[aria-current]{border-bottom-color:var(--with);font-weight:600}.row{flex-wrap:wrap;align-items:center;gap:.4rem 1rem;display:flex}.legend{flex-wrap:wrap;gap:.1rem 1.1rem;margin:.4rem 0;padding:0;font-size:.86rem;list-style:none;display:flex}.legend svg,.legend i{vertical-align:middle;margin-right:.3rem}.legend i{border-radius:.4rem;width:1.1rem;height:.8rem;display:inline-block}.legend i.group{opacity:.45}.legend i.shade0{background:var(--g0)}.legend i.shade1{background:var(--g1)}.legend i.shade2{background:var(--g2)}.legend i.shade3{background:var(--g3)}.legend i.level{background:var(--fill);border:1px solid var(--line)}.legend i.clamped{border:3px solid var(--clamp)}.graph{touch-action:pan-x pan-y;cursor:grab;-webkit-user-select:none;user-select:none;width:100%;display:block}:is(.graph,.graph-key) line.with{stroke:var(--with)}:is(.graph,.graph-key) line.against{stroke:var(--against);stroke-dasharray:7 5}:is(.graph,.graph-key) line.neither,.graph-key line.width{stroke:var(--line)}.shade{opacity:.17}.shade0 polygon{fill:var(--g0);stroke:var(--g0)}.shade1 polygon{fill:var(--g1);stroke:var(--g1)}.shade2 polygon{fill:var(--g2);stroke:var(--g2)}.shade3 polygon{fill:var(--g3);stroke:var(--g3)}.node{cursor:pointer;outline:none}.node .body{fill:var(--paper)}.node .level{fill:var(--fill);transition:width .3s ease-out}.node .line{fill:none;stroke:var(--line)}.node text{fill:var(--ink);font-size:14px}.node .told{fill:var(--muted);paint-order:stroke;stroke:var(--paper);stroke-width:3px;font-size:11px}.node.clamped .line{stroke:var(--clamp);stroke-width:3.5px}.node.clamped .told{fill:var(--clamp);font-weight:700}.node.focus text:first-of-type{font-weight:700}.node:focus-visible .line,.node:hover .line{stroke:var(--with);stroke-width:3px}.scroll{max-height:70vh;overflow:auto}table{border-collapse:collapse;margin:.5rem 0;font-size:.92rem}th,td{text-align:left;border-bottom:1px solid var(--grid);vertical-align:baseline;padding:.25rem 1rem .25rem 0}thead th{color:var(--muted);background:var(--paper);font-size:.85rem;position:sticky;top:0}th.clamped{color:var(--clamp)}:is(th,td).n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}th.n{white-space:normal}td.wide{min-width:9rem}.scroll.whole{max-height:none;overflow:visible}.interactions{width:100%}.interactions>tbody>tr>td:first-child{min-width:12rem}.interactions .graph-key{vertical-align:middle}.interactions>tbody>tr>td{vertical-align:top}.interactions td.wide{width:9rem;min-width:3rem}.interactions .bar{min-width:3rem;margin-top:.3rem}.wrong{color:var(--against);white-space:pre-wrap;margin:.3rem 0;font-size:.9rem}.banner{background:var(--warn);border-bottom:1px solid var(--g2);white-space:pre-wrap;margin:0;padding:.6rem 1.2rem}.api details{border-top:1px solid var(--grid);padding:.4rem 0}.api pre{background:var(--soft);border-radius:.4rem;padding:.6rem;font-size:.82rem;overflow-x:auto}a{color:var(--with)}@media (width<=50rem){.columns{flex-direction:column-reverse;display:flex}aside{border-right:0;border-top:1px solid var(--grid);max-height:none;position:static}main{padding:.7rem .8rem 1rem}:is(th,td).wide{display:none}}@media (width<=62rem){.interactions,.interactions>tbody,.interactions>thead{display:block}.interactions>thead>tr{border-bottom:1px solid var(--grid);flex-wrap:wrap;gap:0 1.2rem;display:flex}.interactions>thead>tr>:is(th,td){border:0;padding:.1rem 0;position:static}.interactions>tbody>tr{border-bottom:1px solid var(--grid);flex-wrap:wrap;gap:0 1.2rem;padding:.35rem 0;display:flex}.interactions>tbody>tr>td{border:0;padding:.1rem 0}.interactions>tbody>tr>td:first-child{flex:1 0 100%}.interactions>tbody>tr.detail>td{padding:.3rem .6rem .8rem}.interactions td[data-label]:before{content:attr(data-label) \" \";color:var(--muted)}}@media (width<=70rem){:is(.interactions,.cells) :is(th,td).wide{display:none}}.steps{gap:.3rem;margin-left:auto;display:inline-flex}button:disabled{opacity:.45;cursor:default}h3{margin:.9rem 0 .2rem;font-size:.95rem}.unseen{clip-path:inset(50%);white-space:nowrap;width:1px;height:1px;position:absolute;overflow:hidden}.filters{margin:.4rem 0;font-size:.9rem}.filters label{color:var(--muted)}.filters input{width:11rem;color:var(--ink)}details.hint summary{cursor:pointer}th.n:has(button.sort){white-space:nowrap}th button.sort{white-space:nowrap;font:inherit;color:inherit;text-align:inherit;background:0 0;border:0;padding:0}th button.sort:after{content:\" ↕\";opacity:.45}th[aria-sort=descending] button.sort:after{content:\" ↓\";opacity:1}th[aria-sort=ascending] button.sort:after{content:\" ↑\";opacity:1}button.words{text-align:left;background:0 0;border:0;padding:.1rem 0}button.words:hover{background:0 0}button.words:hover>span,button.link:hover{background:0 0;text-decoration:underline}button.link{color:var(--with);text-align:left;background:0 0;border:0;padding:0}tr.opened td{border-bottom:0}tr.opened button.words{font-weight:600}.detail>td{background:var(--soft);padding:.3rem 1rem .8rem}.apart{background:var(--soft);border-radius:.4rem;padding:.6rem 1rem .8rem}.effect{max-width:52rem}.effect h3:first-child{margin-top:.3rem}.effect p{margin:.3rem 0}.shares{width:100%}.shares th,.shares td{background:0 0;border:0;padding:.12rem .7rem .12rem 0;position:static}.shares .first th,.shares .first td{padding-top:.3rem}.shares td.track{width:45%;min-width:7rem}.lane{background:linear-gradient(var(--grid), var(--grid)) center / 100% 1px no-repeat;height:1rem;display:block;position:relative}.lane .fill{background:var(--fill);border-right:2px solid var(--with);position:absolute;inset:1px auto 1px 0}.lane .range{background:var(--ink);height:2px;margin-top:-1px;position:absolute;top:50%}.lane .dot{background:var(--ink);border-radius:50%;width:8px;height:8px;margin:-4px;position:absolute;top:50%}.legend i.model{background:var(--fill);border-right:2px solid var(--with);border-radius:0}.legend i.rows{background:var(--ink);border-radius:50%;width:8px;height:8px}.ratio{margin-top:.3rem;font-size:.92rem}.ratio.scale{margin:0}.ratio>svg,.ratio.scale>span{width:min(26rem,100%);display:block}.ratio.scale>span{color:var(--muted);justify-content:space-between;font-size:.8rem;display:flex}.ratio .axis{stroke:var(--grid)}.ratio .one{stroke:var(--line)}.ratio .range{stroke:var(--ink);stroke-width:2px}.ratio circle.with{fill:var(--with)}.ratio circle.against{fill:var(--against)}.others{margin:.2rem 0;padding:0;list-style:none}.others li{padding:.15rem 0}.find{flex-wrap:nowrap;align-items:end}.find .search:first-child{flex:1}.find select{max-width:9.5rem;color:var(--ink);margin-top:.15rem;display:block}.name{flex-wrap:wrap;gap:.1rem .5rem}.name button{flex:none}.name>span:first-child{margin-right:auto}.name .moved{color:var(--muted);white-space:nowrap;font-size:.8rem;font-weight:400}.choice{gap:3px;display:flex}.choice .level{flex:1;min-width:0}.choice.out .text{text-decoration:line-through}.not{border-color:var(--grid);color:var(--muted);padding:0 .35rem;font-size:.8rem}.not[aria-pressed=true]{background:var(--against);border-color:var(--against);color:var(--on)}div.range{color:var(--muted);gap:.6rem;margin-top:3px;font-size:.84rem;display:flex}.range select{color:var(--ink);max-width:8rem;padding:0 .2rem}.asked{border-bottom:1px solid var(--grid);padding-bottom:.3rem}.asked .dismiss{float:right}.asked summary{cursor:pointer;overflow-wrap:anywhere}.strength{flex-wrap:wrap;align-items:center;gap:.5rem;display:inline-flex}.strength input{width:10rem;accent-color:var(--with);padding:0}.tools{margin:.3rem 0}.strongest{display:none}.node .reach{fill:#0000}.node circle.line{fill:var(--paper);stroke:var(--muted);stroke-width:2px}.node .label{paint-order:stroke;stroke:var(--paper);stroke-width:3px}.node.folded .body{fill:var(--soft);rx:6px}.node.folded .line{stroke:var(--ink);stroke-width:1.5px}.node.folded circle.line{fill:var(--soft)}.raised{pointer-events:none}.raised rect{fill:var(--paper);stroke:var(--with);stroke-width:2px}.raised text{fill:var(--ink)}.raised .told{fill:var(--muted);font-size:11px}.legend i.folded{background:var(--soft);border:1.5px solid var(--ink);border-radius:3px}.legend i.dot{background:var(--paper);border:2px solid var(--muted);border-radius:50%;width:10px;height:10px}@media (width<=50rem){.down,nav button{padding:.35rem .4rem;font-size:.9rem;text-decoration:none;display:inline-block}.filters label{flex:8rem}.filters input{width:100%}.strongest{padding:0;font-size:.92rem;list-style:none;display:block}.strongest li{border-bottom:1px solid var(--grid);padding:.25rem 0}}fieldset{border:1px solid var(--grid);border-radius:.4rem;margin:.5rem 0;padding:.3rem .8rem .6rem}fieldset legend{padding:0 .3rem;font-weight:600}.slider{flex-wrap:wrap;align-items:center;gap:.6rem;font-size:.92rem;display:flex}.slider>span:first-child{overflow-wrap:anywhere;min-width:8rem}.slider input[type=range]{min-width:8rem;max-width:24rem;accent-color:var(--with);flex:1;padding:0}.moved td.wide{min-width:12rem}.row>button[aria-pressed=true]:not(.level,.not){background:var(--soft);border-color:var(--with);box-shadow:inset 0 -2px var(--with);font-weight:600}.bar.second .fill{background:var(--against)}.legend i.first{background:var(--with);border-radius:2px}.legend i.second{background:var(--against);border-radius:2px}textarea{width:100%;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.4rem;padding:.4rem .6rem;font:.9rem/1.4 ui-monospace,Menlo,Consolas,monospace;display:block}.fits{padding:0;list-style:none}.fit{border-top:1px solid var(--grid);padding:.5rem 0}.fit p{margin:.3rem 0}figure{margin:.4rem 0}.costs{background:var(--soft);border-radius:.3rem;width:20rem;max-width:100%;display:block}.costs polyline{fill:none;stroke:var(--with);stroke-width:2px}.spoke{fill:none;stroke:var(--line);stroke-width:1px;stroke-dasharray:2 3}.hub{fill:var(--line)}", Ic = ".widget{background:var(--paper);color:var(--ink);border:1px solid var(--grid);border-radius:.5rem;font:14px/1.45 system-ui,Segoe UI,Roboto,Helvetica Neue,Arial,sans-serif;container-type:inline-size}.widget header{padding:.5rem .9rem}.widget .columns{grid-template-columns:minmax(14rem,18rem) minmax(0,1fr);display:grid}.widget aside{border:0;border-right:1px solid var(--grid);max-height:38rem;padding:.6rem .9rem 1rem;position:static;overflow-y:auto}.widget main{padding:.6rem .9rem 1rem}@container (width<=40rem){.widget .columns{flex-direction:column-reverse;display:flex}.widget aside{border-right:0;border-top:1px solid var(--grid);max-height:24rem}}.widget .name{flex-wrap:wrap;gap:0 .5rem}.widget .name>:first-child{flex:1 0 auto;max-width:100%}.widget .name button{white-space:nowrap}", Lc = ({ text: e }) => e ? /* @__PURE__ */ F("pre", {
	class: "wrong",
	role: "alert",
	children: e
}) : null, Rc = (e) => e instanceof Error ? e.message : String(e);
function zc(e, t) {
	let n = e.listen(() => {
		JSON.stringify(t.get("given")) !== JSON.stringify(e.page.given) && (t.set("given", e.page.given), t.save_changes());
	}), r = () => e.change({ given: t.get("given") });
	return t.on("change:given", r), () => {
		n(), t.off("change:given", r);
	};
}
function Bc({ ask: e, store: t }) {
	let { given: n, view: r } = nt(t), [i, a] = P(null), [o, s] = P("");
	if (Te(() => {
		e.models().then(([e]) => a(e)).catch((e) => s(Rc(e)));
	}, []), !i) return /* @__PURE__ */ F(Lc, { text: o });
	let c = {
		ask: e,
		model: i.name,
		given: n,
		version: i.version,
		seen: () => void 0,
		failed: Rc,
		look: (e) => t.change({ view: { focus: e ?? "" } }),
		change: (e) => t.change({ given: e })
	};
	return /* @__PURE__ */ F(y, { children: [/* @__PURE__ */ F("header", { children: [
		/* @__PURE__ */ F("b", { children: "Fullspan" }),
		/* @__PURE__ */ F(Mc, { model: i }),
		/* @__PURE__ */ F(Nc, { store: t })
	] }), /* @__PURE__ */ F("div", {
		class: "columns",
		children: [/* @__PURE__ */ F("aside", {
			"aria-label": "Variables",
			children: /* @__PURE__ */ F(it, { ...c })
		}), /* @__PURE__ */ F("main", { children: /* @__PURE__ */ F(Ac, {
			...c,
			focus: r.focus ?? null
		}) })]
	})] });
}
function Vc(e) {
	let [t, n, r] = getComputedStyle(e).color.match(/\d+(\.\d+)?/g)?.map(Number) ?? [
		0,
		0,
		0
	];
	return .3 * t + .6 * n + .1 * r > 127;
}
function Hc({ model: e, el: t }) {
	let n = document.createElement("div");
	t.append(n), n.style.colorScheme = Vc(t) ? "dark" : "light";
	let r = n.attachShadow({ mode: "open" }), i = document.createElement("style"), a = document.createElement("div");
	i.textContent = Fc + Ic, a.className = "widget", r.append(i, a);
	let { transport: o, close: s } = Pc(e), c = new tt({ given: e.get("given") }), l = zc(c, e);
	return A(/* @__PURE__ */ F(Bc, {
		ask: Le(o),
		store: c
	}), a), () => {
		A(null, a), l(), s(), n.remove();
	};
}
var Uc = { render: Hc };
export { Uc as default };
