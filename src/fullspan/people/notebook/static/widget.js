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
function we(e) {
	return me = 1, Te(Le, e);
}
function Te(e, t, n) {
	var r = Ce(j++, 2);
	if (r.t = e, !r.__c && (r.__ = [n ? n(t) : Le(void 0, t), function(e) {
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
function Ee(e, t) {
	var n = Ce(j++, 3);
	!N.__s && Ie(n.__H, t) && (n.__P = !0, n.__ = e, n.u = t, M.__H.__h.push(n));
}
function De(e, t) {
	var n = Ce(j++, 4);
	!N.__s && Ie(n.__H, t) && (n.__P = !1, n.__ = e, n.u = t, M.__h.push(n));
}
function Oe(e) {
	return me = 5, ke(function() {
		return { current: e };
	}, []);
}
function ke(e, t) {
	var n = Ce(j++, 7);
	return Ie(n.__H, t) && (n.__ = e(), n.__H = t), n.__;
}
function Ae() {
	var e;
	do {
		for (; e = ge.shift();) try {
			Pe(e);
		} catch (t) {
			N.__e(t, { __: (e = e.__P) && e.__v });
		}
		for (; e = he.shift();) {
			var t = e.__H;
			if (e.__P && t) try {
				t.__h.some(Pe), t.__h.some(Fe), t.__h = [];
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
	t && (de == M ? M.__h = [] : (t.__h.some(Pe), t.__h.some(Fe), j = 0), t.__h = [], t.__.some(function(e) {
		e.__N && (e.__ = e.__N), e.u = e.__N = void 0;
	})), de = M;
}, N.diffed = function(e) {
	ye && ye(e);
	var t = e.__c;
	t && t.__H && (t.__H.__h.length && Ne(he.push(t)), t.__H.__.some(function(e) {
		e.u && (e.__H = e.u);
	})), de = M = null;
}, N.__c = function(e, t) {
	t.some(function(e) {
		try {
			e.__h.some(Pe), e.__h = e.__h.filter(function(e) {
				return !e.__ || Fe(e);
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
				r.__P = n, Ne(ge.push(r));
			} else Pe(r);
		} catch (e) {
			t = e;
		}
	}), r.__H = void 0, t && N.__e(t, r.__v));
};
var je = typeof requestAnimationFrame == "function";
function Me(e) {
	var t, n = function() {
		clearTimeout(r), je && cancelAnimationFrame(t), setTimeout(e);
	}, r = setTimeout(n, 35);
	je && (t = requestAnimationFrame(n));
}
function Ne(e) {
	e != 1 && fe == N.requestAnimationFrame || ((fe = N.requestAnimationFrame) || Me)(Ae);
}
function Pe(e) {
	var t = M, n = e.__c;
	typeof n == "function" && (e.__c = void 0, n()), M = t;
}
function Fe(e) {
	var t = M;
	e.__c = e.__(), M = t;
}
function Ie(e, t) {
	return !e || e.length != t.length || t.some(function(t, n) {
		return !pe(t, e[n]);
	});
}
function Le(e, t) {
	return typeof t == "function" ? t(e) : t;
}
// src/api.ts
var Re = (e) => ({
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
function ze(e, t, n, r = 0) {
	let [i, a] = we({
		answer: null,
		wrong: ""
	});
	return Ee(() => {
		let t = new AbortController(), i = setTimeout(() => {
			e(t.signal)?.then((e) => {
				t.signal.aborted || a({
					answer: e,
					wrong: ""
				});
			}).catch((e) => {
				if (!t.signal.aborted) {
					let t = n(e);
					a((e) => ({
						...e,
						wrong: t
					}));
				}
			});
		}, r);
		return () => {
			clearTimeout(i), t.abort();
		};
	}, [JSON.stringify(t)]), i;
}
// src/given.ts
var Be = (e, t) => {
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
	if (n.ordered && a && r.length > 1) return `${t} from ${n.levels[i[0]]} to ${n.levels[i[i.length - 1]]}`;
	let o = n.levels.filter((e) => !r.includes(e));
	return o.length < r.length ? `${t} ≠ ${o.join(", ")}` : `${t} = ${r.join(" or ")}`;
}
// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var Ge = Symbol.for("pv"), Ke = 0;
Array.isArray;
function P(t, n, r, i, a, o) {
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
	let { name: r, levels: i } = e, a = Be(t, e), o = i.indexOf(a[0]), s = i.indexOf(a[a.length - 1]), c = (e, t, n) => /* @__PURE__ */ P("label", { children: [
		e,
		" ",
		/* @__PURE__ */ P("select", {
			"aria-label": `${r} ${e}`,
			value: t,
			onChange: (e) => n(+e.target.value),
			children: i.map((e, t) => /* @__PURE__ */ P("option", {
				value: t,
				children: String(e)
			}))
		})
	] }), l = (r, a) => n(He(t, e, i.slice(Math.min(r, a), Math.max(r, a) + 1)));
	return /* @__PURE__ */ P("div", {
		class: "range",
		children: [c("from", o, (e) => l(e, Math.max(e, s))), c("to", s, (e) => l(Math.min(o, e), e))]
	});
}
function Ye(e) {
	let { variable: t, given: n, change: r } = e, { name: i, levels: a, now: o, prior: s } = t, c = n[i], l = Be(n, t);
	return /* @__PURE__ */ P(y, { children: [/* @__PURE__ */ P("div", {
		class: "levels",
		role: "group",
		"aria-label": `levels of ${i}`,
		children: a.map((e, u) => {
			let d = !Array.isArray(c) && c === e, f = !l.includes(e);
			return /* @__PURE__ */ P("div", {
				class: f && Array.isArray(c) ? "choice out" : "choice",
				children: [/* @__PURE__ */ P("button", {
					type: "button",
					class: "level",
					"aria-pressed": d,
					title: `${i} = ${e}: ${qe(o[u])}, ${qe(s[u])} when nothing is known`,
					onClick: () => r(Ve(n, i, d ? null : e)),
					children: [
						/* @__PURE__ */ P("span", {
							class: "fill",
							style: { width: `${100 * o[u]}%` }
						}),
						/* @__PURE__ */ P("span", {
							class: "was",
							style: { left: `${100 * s[u]}%` }
						}),
						/* @__PURE__ */ P("span", {
							class: "text",
							children: String(e)
						}),
						/* @__PURE__ */ P("span", {
							class: "number",
							children: qe(o[u])
						})
					]
				}), a.length > 2 && /* @__PURE__ */ P("button", {
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
	}), t.ordered && a.length > 3 && /* @__PURE__ */ P(Je, {
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
	let [t, n] = we({});
	return e ?? {
		view: t,
		set: (e) => n((t) => ({
			...t,
			...e
		}))
	};
}
var Qe = {
	model: "",
	tab: "",
	given: {},
	view: {}
};
function $e(e, t) {
	let n = t.model === void 0 || t.model === e.model || e.model === "" ? e : {
		...Qe,
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
var et = class {
	entries;
	at = 0;
	listeners = /* @__PURE__ */ new Set();
	travel = (e) => this.go(this.at + e);
	constructor(e = {}) {
		this.entries = [{
			id: "0",
			page: {
				...Qe,
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
		let n = $e(this.page, e);
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
function tt(e) {
	let [t, n] = we(e.page);
	return Ee(() => (n(e.page), e.listen(() => n(e.page))), [e]), t;
}
// src/evidence.tsx
var nt = 200;
function rt(e) {
	let { ask: t, model: n, given: r, change: i, look: a, version: o, seen: s, failed: c } = e, { view: l, set: u } = Ze(e.settings), [d, f] = we(""), p = l.order === "changed" ? "changed" : "table", { answer: m, wrong: h } = ze(() => t.consequences(n, r, {
		search: d,
		order: p,
		limit: nt
	}), [
		n,
		r,
		d,
		p,
		o
	], c, d ? 150 : 0), g = m?.variables ?? [], _ = m?.total ?? 0, v = Oe(/* @__PURE__ */ new Map());
	for (let e of g) v.current.set(e.name, e);
	Ee(() => f(""), [n]), Ee(() => {
		m && s(m);
	}, [m]);
	let b = Object.keys(r);
	return /* @__PURE__ */ P(y, { children: [
		/* @__PURE__ */ P("div", {
			class: "row find",
			children: [/* @__PURE__ */ P("label", {
				class: "search",
				children: ["Find a variable ", /* @__PURE__ */ P("input", {
					type: "search",
					value: d,
					onInput: (e) => f(e.target.value)
				})]
			}), /* @__PURE__ */ P("label", {
				class: "search",
				children: ["Order ", /* @__PURE__ */ P("select", {
					value: p,
					onChange: (e) => u({ order: e.target.value === "changed" ? "changed" : "" }),
					children: [/* @__PURE__ */ P("option", {
						value: "table",
						children: "as in the table"
					}), /* @__PURE__ */ P("option", {
						value: "changed",
						children: "most changed first"
					})]
				})]
			})]
		}),
		/* @__PURE__ */ P("div", {
			class: "given",
			"aria-live": "polite",
			children: b.length === 0 ? /* @__PURE__ */ P("p", { children: "Press a level to clamp it: every bar then shows the probability given what is known, exact under the model. The thin line marks the probability when nothing is known. ≠ excludes a level." }) : /* @__PURE__ */ P(y, { children: [
				b.map((e) => /* @__PURE__ */ P("button", {
					type: "button",
					class: "chip",
					onClick: () => i(Ve(r, e, null)),
					title: `forget ${e}`,
					children: [We(r, e, v.current.get(e)), " ×"]
				})),
				/* @__PURE__ */ P("button", {
					type: "button",
					onClick: () => i({}),
					children: "Forget all"
				}),
				m && m.log_prob !== null && /* @__PURE__ */ P("p", { children: ["Probability of what is known: ", Math.exp(m.log_prob).toPrecision(3)] })
			] })
		}),
		h && /* @__PURE__ */ P("pre", {
			class: "wrong",
			role: "alert",
			children: h
		}),
		/* @__PURE__ */ P("ul", {
			class: "variables",
			children: g.map((e) => /* @__PURE__ */ P("li", { children: [/* @__PURE__ */ P("div", {
				class: "name",
				children: [
					/* @__PURE__ */ P("span", { children: e.name }),
					b.length > 0 && !b.includes(e.name) && e.moved >= 5e-4 && /* @__PURE__ */ P("span", {
						class: "moved",
						title: "half the sum of the changes of its probabilities",
						children: [
							"moved ",
							(100 * e.moved).toFixed(1),
							" points"
						]
					}),
					a && /* @__PURE__ */ P("button", {
						type: "button",
						class: "small",
						onClick: () => a(e.name),
						"aria-label": `show the neighbours of ${e.name} in the graph`,
						children: "neighbours"
					})
				]
			}), /* @__PURE__ */ P(Ye, {
				variable: e,
				given: r,
				change: i
			})] }, e.name))
		}),
		_ > g.length && /* @__PURE__ */ P("p", { children: [
			"The first ",
			g.length,
			" of ",
			_.toLocaleString("en"),
			"; search for others."
		] })
	] });
}
// node_modules/d3-quadtree/dist/d3-quadtree.mjs
function it(e) {
	let t = +this._x.call(null, e), n = +this._y.call(null, e);
	return at(this.cover(t, n), t, n, e);
}
function at(e, t, n, r) {
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
function ot(e) {
	Array.isArray(e) || (e = Array.from(e));
	let t = e.length, n = new Float64Array(t), r = new Float64Array(t), i = Infinity, a = i, o = -i, s = o;
	for (let c = 0, l, u, d; c < t; ++c) isNaN(u = +this._x.call(null, l = e[c])) || isNaN(d = +this._y.call(null, l)) ? n[c] = NaN : (n[c] = u, r[c] = d, u < i && (i = u), u > o && (o = u), d < a && (a = d), d > s && (s = d));
	if (i > o || a > s) return this;
	this.cover(i, a).cover(o, s);
	for (let i = 0; i < t; ++i) at(this, n[i], r[i], e[i]);
	return this;
}
function st(e, t) {
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
function ct() {
	var e = [];
	return this.visit(function(t) {
		if (!t.length) do
			e.push(t.data);
		while (t = t.next);
	}), e;
}
function lt(e) {
	return arguments.length ? this.cover(+e[0][0], +e[0][1]).cover(+e[1][0], +e[1][1]) : isNaN(this._x0) ? void 0 : [[this._x0, this._y0], [this._x1, this._y1]];
}
function F(e, t, n, r, i) {
	this.node = e, this.x0 = t, this.y0 = n, this.x1 = r, this.y1 = i;
}
function ut(e, t, n) {
	var r, i = this._x0, a = this._y0, o, s, c, l, u = this._x1, d = this._y1, f = [], p = this._root, m, h;
	for (p && f.push(new F(p, i, a, u, d)), n == null ? n = Infinity : (i = e - n, a = t - n, u = e + n, d = t + n, n *= n); m = f.pop();) if (!(!(p = m.node) || (o = m.x0) > u || (s = m.y0) > d || (c = m.x1) < i || (l = m.y1) < a)) {
		if (p.length) {
			var g = (o + c) / 2, _ = (s + l) / 2;
			f.push(new F(p[3], g, _, c, l), new F(p[2], o, _, g, l), new F(p[1], g, s, c, _), new F(p[0], o, s, g, _)), (h = (t >= _) << 1 | e >= g) && (m = f[f.length - 1], f[f.length - 1] = f[f.length - 1 - h], f[f.length - 1 - h] = m);
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
function dt(e) {
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
function ft(e) {
	for (var t = 0, n = e.length; t < n; ++t) this.remove(e[t]);
	return this;
}
function pt() {
	return this._root;
}
function mt() {
	var e = 0;
	return this.visit(function(t) {
		if (!t.length) do
			++e;
		while (t = t.next);
	}), e;
}
function ht(e) {
	var t = [], n, r = this._root, i, a, o, s, c;
	for (r && t.push(new F(r, this._x0, this._y0, this._x1, this._y1)); n = t.pop();) if (!e(r = n.node, a = n.x0, o = n.y0, s = n.x1, c = n.y1) && r.length) {
		var l = (a + s) / 2, u = (o + c) / 2;
		(i = r[3]) && t.push(new F(i, l, u, s, c)), (i = r[2]) && t.push(new F(i, a, u, l, c)), (i = r[1]) && t.push(new F(i, l, o, s, u)), (i = r[0]) && t.push(new F(i, a, o, l, u));
	}
	return this;
}
function gt(e) {
	var t = [], n = [], r;
	for (this._root && t.push(new F(this._root, this._x0, this._y0, this._x1, this._y1)); r = t.pop();) {
		var i = r.node;
		if (i.length) {
			var a, o = r.x0, s = r.y0, c = r.x1, l = r.y1, u = (o + c) / 2, d = (s + l) / 2;
			(a = i[0]) && t.push(new F(a, o, s, u, d)), (a = i[1]) && t.push(new F(a, u, s, c, d)), (a = i[2]) && t.push(new F(a, o, d, u, l)), (a = i[3]) && t.push(new F(a, u, d, c, l));
		}
		n.push(r);
	}
	for (; r = n.pop();) e(r.node, r.x0, r.y0, r.x1, r.y1);
	return this;
}
function _t(e) {
	return e[0];
}
function vt(e) {
	return arguments.length ? (this._x = e, this) : this._x;
}
function yt(e) {
	return e[1];
}
function bt(e) {
	return arguments.length ? (this._y = e, this) : this._y;
}
function xt(e, t, n) {
	var r = new St(t ?? _t, n ?? yt, NaN, NaN, NaN, NaN);
	return e == null ? r : r.addAll(e);
}
function St(e, t, n, r, i, a) {
	this._x = e, this._y = t, this._x0 = n, this._y0 = r, this._x1 = i, this._y1 = a, this._root = void 0;
}
function Ct(e) {
	for (var t = { data: e.data }, n = t; e = e.next;) n = n.next = { data: e.data };
	return t;
}
var I = xt.prototype = St.prototype;
I.copy = function() {
	var e = new St(this._x, this._y, this._x0, this._y0, this._x1, this._y1), t = this._root, n, r;
	if (!t) return e;
	if (!t.length) return e._root = Ct(t), e;
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
	}) : t.target[i] = Ct(r));
	return e;
}, I.add = it, I.addAll = ot, I.cover = st, I.data = ct, I.extent = lt, I.find = ut, I.remove = dt, I.removeAll = ft, I.root = pt, I.size = mt, I.visit = ht, I.visitAfter = gt, I.x = vt, I.y = bt;
// node_modules/d3-dispatch/dist/d3-dispatch.mjs
var wt = { value: () => {} };
function Tt() {
	for (var e = 0, t = arguments.length, n = {}, r; e < t; ++e) {
		if (!(r = arguments[e] + "") || r in n || /[\s.]/.test(r)) throw Error("illegal type: " + r);
		n[r] = [];
	}
	return new Et(n);
}
function Et(e) {
	this._ = e;
}
function Dt(e, t) {
	return e.trim().split(/^|\s+/).map(function(e) {
		var n = "", r = e.indexOf(".");
		if (r >= 0 && (n = e.slice(r + 1), e = e.slice(0, r)), e && !t.hasOwnProperty(e)) throw Error("unknown type: " + e);
		return {
			type: e,
			name: n
		};
	});
}
Et.prototype = Tt.prototype = {
	constructor: Et,
	on: function(e, t) {
		var n = this._, r = Dt(e + "", n), i, a = -1, o = r.length;
		if (arguments.length < 2) {
			for (; ++a < o;) if ((i = (e = r[a]).type) && (i = Ot(n[i], e.name))) return i;
		} else {
			if (t != null && typeof t != "function") throw Error("invalid callback: " + t);
			for (; ++a < o;) if (i = (e = r[a]).type) n[i] = kt(n[i], e.name, t);
			else if (t == null) for (i in n) n[i] = kt(n[i], e.name, null);
			return this;
		}
	},
	copy: function() {
		var e = {}, t = this._;
		for (var n in t) e[n] = t[n].slice();
		return new Et(e);
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
function Ot(e, t) {
	for (var n = 0, r = e.length, i; n < r; ++n) if ((i = e[n]).name === t) return i.value;
}
function kt(e, t, n) {
	for (var r = 0, i = e.length; r < i; ++r) if (e[r].name === t) {
		e[r] = wt, e = e.slice(0, r).concat(e.slice(r + 1));
		break;
	}
	return n != null && e.push({
		name: t,
		value: n
	}), e;
}
// node_modules/d3-timer/dist/d3-timer.mjs
var At = 0, jt = 0, Mt = 0, Nt = 1e3, Pt, Ft, It = 0, Lt = 0, Rt = 0, zt = typeof performance == "object" && performance.now ? performance : Date, Bt = typeof window == "object" && window.requestAnimationFrame ? window.requestAnimationFrame.bind(window) : function(e) {
	setTimeout(e, 17);
};
function Vt() {
	return Lt ||= (Bt(Ht), zt.now() + Rt);
}
function Ht() {
	Lt = 0;
}
function Ut() {
	this._call = this._time = this._next = null;
}
Ut.prototype = Wt.prototype = {
	constructor: Ut,
	restart: function(e, t, n) {
		if (typeof e != "function") throw TypeError("callback is not a function");
		n = (n == null ? Vt() : +n) + (t == null ? 0 : +t), !this._next && Ft !== this && (Ft ? Ft._next = this : Pt = this, Ft = this), this._call = e, this._time = n, Yt();
	},
	stop: function() {
		this._call && (this._call = null, this._time = Infinity, Yt());
	}
};
function Wt(e, t, n) {
	var r = new Ut();
	return r.restart(e, t, n), r;
}
function Gt() {
	Vt(), ++At;
	for (var e = Pt, t; e;) (t = Lt - e._time) >= 0 && e._call.call(void 0, t), e = e._next;
	--At;
}
function Kt() {
	Lt = (It = zt.now()) + Rt, At = jt = 0;
	try {
		Gt();
	} finally {
		At = 0, Jt(), Lt = 0;
	}
}
function qt() {
	var e = zt.now(), t = e - It;
	t > Nt && (Rt -= t, It = e);
}
function Jt() {
	for (var e, t = Pt, n, r = Infinity; t;) t._call ? (r > t._time && (r = t._time), e = t, t = t._next) : (n = t._next, t._next = null, t = e ? e._next = n : Pt = n);
	Ft = e, Yt(r);
}
function Yt(e) {
	At || (jt &&= clearTimeout(jt), e - Lt > 24 ? (e < Infinity && (jt = setTimeout(Kt, Math.ceil(e - zt.now() - Rt) + 1)), Mt &&= clearInterval(Mt)) : (Mt ||= (It = zt.now(), setInterval(qt, Nt)), At = 1, Bt(Kt)));
}
function Xt(e, t, n) {
	var r = new Ut();
	return t = t == null ? 0 : +t, r.restart((n) => {
		r.stop(), e(n + t);
	}, t, n), r;
}
// node_modules/d3-force/dist/d3-force.mjs
function L(e) {
	return function() {
		return e;
	};
}
function R(e) {
	return (e() - .5) * 1e-6;
}
function Zt(e) {
	return e.x + e.vx;
}
function Qt(e) {
	return e.y + e.vy;
}
function $t(e) {
	var t, n, r, i = 1, a = 1;
	typeof e != "function" && (e = L(e == null ? 1 : +e));
	function o() {
		for (var e, o = t.length, c, l, u, d, f, p, m = 0; m < a; ++m) for (c = xt(t, Zt, Qt).visitAfter(s), e = 0; e < o; ++e) l = t[e], f = n[l.index], p = f * f, u = l.x + l.vx, d = l.y + l.vy, c.visit(h);
		function h(e, t, n, a, o) {
			var s = e.data, c = e.r, m = f + c;
			if (s) {
				if (s.index > l.index) {
					var h = u - s.x - s.vx, g = d - s.y - s.vy, _ = h * h + g * g;
					_ < m * m && (h === 0 && (h = R(r), _ += h * h), g === 0 && (g = R(r), _ += g * g), _ = (m - (_ = Math.sqrt(_))) / _ * i, l.vx += (h *= _) * (m = (c *= c) / (p + c)), l.vy += (g *= _) * m, s.vx -= h * (m = 1 - m), s.vy -= g * m);
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
		return arguments.length ? (e = typeof t == "function" ? t : L(+t), c(), o) : e;
	}, o;
}
function en(e) {
	return e.index;
}
function tn(e, t) {
	var n = e.get(t);
	if (!n) throw Error("node not found: " + t);
	return n;
}
function nn(e) {
	var t = en, n = d, r, i = L(30), a, o, s, c, l, u = 1;
	e ??= [];
	function d(e) {
		return 1 / Math.min(s[e.source.index], s[e.target.index]);
	}
	function f(t) {
		for (var n = 0, i = e.length; n < u; ++n) for (var o = 0, s, d, f, p, m, h, g; o < i; ++o) s = e[o], d = s.source, f = s.target, p = f.x + f.vx - d.x - d.vx || R(l), m = f.y + f.vy - d.y - d.vy || R(l), h = Math.sqrt(p * p + m * m), h = (h - a[o]) / h * t * r[o], p *= h, m *= h, f.vx -= p * (g = c[o]), f.vy -= m * g, d.vx += p * (g = 1 - g), d.vy += m * g;
	}
	function p() {
		if (o) {
			var n, i = o.length, l = e.length, u = new Map(o.map((e, n) => [t(e, n, o), e])), d;
			for (n = 0, s = Array(i); n < l; ++n) d = e[n], d.index = n, typeof d.source != "object" && (d.source = tn(u, d.source)), typeof d.target != "object" && (d.target = tn(u, d.target)), s[d.source.index] = (s[d.source.index] || 0) + 1, s[d.target.index] = (s[d.target.index] || 0) + 1;
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
		return arguments.length ? (n = typeof e == "function" ? e : L(+e), m(), f) : n;
	}, f.distance = function(e) {
		return arguments.length ? (i = typeof e == "function" ? e : L(+e), h(), f) : i;
	}, f;
}
var rn = 1664525, an = 1013904223, on = 4294967296;
function sn() {
	let e = 1;
	return () => (e = (rn * e + an) % on) / on;
}
function cn(e) {
	return e.x;
}
function ln(e) {
	return e.y;
}
var un = 10, dn = Math.PI * (3 - Math.sqrt(5));
function fn(e) {
	var t, n = 1, r = .001, i = 1 - r ** (1 / 300), a = 0, o = .6, s = /* @__PURE__ */ new Map(), c = Wt(d), l = Tt("tick", "end"), u = sn();
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
				var i = un * Math.sqrt(.5 + t), a = t * dn;
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
function pn() {
	var e, t, n, r, i = L(-30), a, o = 1, s = Infinity, c = .81;
	function l(n) {
		var i, a = e.length, o = xt(e, cn, ln).visitAfter(d);
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
		if (p * p / c < m) return m < s && (d === 0 && (d = R(n), m += d * d), f === 0 && (f = R(n), m += f * f), m < o && (m = Math.sqrt(o * m)), t.vx += d * e.value * r / m, t.vy += f * e.value * r / m), !0;
		if (!(e.length || m >= s)) {
			(e.data !== t || e.next) && (d === 0 && (d = R(n), m += d * d), f === 0 && (f = R(n), m += f * f), m < o && (m = Math.sqrt(o * m)));
			do
				e.data !== t && (p = a[e.data.index] * r / m, t.vx += d * p, t.vy += f * p);
			while (e = e.next);
		}
	}
	return l.initialize = function(t, r) {
		e = t, n = r, u();
	}, l.strength = function(e) {
		return arguments.length ? (i = typeof e == "function" ? e : L(+e), u(), l) : i;
	}, l.distanceMin = function(e) {
		return arguments.length ? (o = e * e, l) : Math.sqrt(o);
	}, l.distanceMax = function(e) {
		return arguments.length ? (s = e * e, l) : Math.sqrt(s);
	}, l.theta = function(e) {
		return arguments.length ? (c = e * e, l) : Math.sqrt(c);
	}, l;
}
function mn(e) {
	var t = L(.1), n, r, i;
	typeof e != "function" && (e = L(e == null ? 0 : +e));
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
		return arguments.length ? (t = typeof e == "function" ? e : L(+e), o(), a) : t;
	}, a.x = function(t) {
		return arguments.length ? (e = typeof t == "function" ? t : L(+t), o(), a) : e;
	}, a;
}
function hn(e) {
	var t = L(.1), n, r, i;
	typeof e != "function" && (e = L(e == null ? 0 : +e));
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
		return arguments.length ? (t = typeof e == "function" ? e : L(+e), o(), a) : t;
	}, a.y = function(t) {
		return arguments.length ? (e = typeof t == "function" ? t : L(+t), o(), a) : e;
	}, a;
}
// node_modules/d3-selection/dist/d3-selection.mjs
var gn = "http://www.w3.org/1999/xhtml", _n = {
	svg: "http://www.w3.org/2000/svg",
	xhtml: gn,
	xlink: "http://www.w3.org/1999/xlink",
	xml: "http://www.w3.org/XML/1998/namespace",
	xmlns: "http://www.w3.org/2000/xmlns/"
};
function vn(e) {
	var t = e += "", n = t.indexOf(":");
	return n >= 0 && (t = e.slice(0, n)) !== "xmlns" && (e = e.slice(n + 1)), _n.hasOwnProperty(t) ? {
		space: _n[t],
		local: e
	} : e;
}
function yn(e) {
	return function() {
		var t = this.ownerDocument, n = this.namespaceURI;
		return n === gn && t.documentElement.namespaceURI === gn ? t.createElement(e) : t.createElementNS(n, e);
	};
}
function bn(e) {
	return function() {
		return this.ownerDocument.createElementNS(e.space, e.local);
	};
}
function xn(e) {
	var t = vn(e);
	return (t.local ? bn : yn)(t);
}
function Sn() {}
function Cn(e) {
	return e == null ? Sn : function() {
		return this.querySelector(e);
	};
}
function wn(e) {
	typeof e != "function" && (e = Cn(e));
	for (var t = this._groups, n = t.length, r = Array(n), i = 0; i < n; ++i) for (var a = t[i], o = a.length, s = r[i] = Array(o), c, l, u = 0; u < o; ++u) (c = a[u]) && (l = e.call(c, c.__data__, u, a)) && ("__data__" in c && (l.__data__ = c.__data__), s[u] = l);
	return new z(r, this._parents);
}
function Tn(e) {
	return e == null ? [] : Array.isArray(e) ? e : Array.from(e);
}
function En() {
	return [];
}
function Dn(e) {
	return e == null ? En : function() {
		return this.querySelectorAll(e);
	};
}
function On(e) {
	return function() {
		return Tn(e.apply(this, arguments));
	};
}
function kn(e) {
	e = typeof e == "function" ? On(e) : Dn(e);
	for (var t = this._groups, n = t.length, r = [], i = [], a = 0; a < n; ++a) for (var o = t[a], s = o.length, c, l = 0; l < s; ++l) (c = o[l]) && (r.push(e.call(c, c.__data__, l, o)), i.push(c));
	return new z(r, i);
}
function An(e) {
	return function() {
		return this.matches(e);
	};
}
function jn(e) {
	return function(t) {
		return t.matches(e);
	};
}
var Mn = Array.prototype.find;
function Nn(e) {
	return function() {
		return Mn.call(this.children, e);
	};
}
function Pn() {
	return this.firstElementChild;
}
function Fn(e) {
	return this.select(e == null ? Pn : Nn(typeof e == "function" ? e : jn(e)));
}
var In = Array.prototype.filter;
function Ln() {
	return Array.from(this.children);
}
function Rn(e) {
	return function() {
		return In.call(this.children, e);
	};
}
function zn(e) {
	return this.selectAll(e == null ? Ln : Rn(typeof e == "function" ? e : jn(e)));
}
function Bn(e) {
	typeof e != "function" && (e = An(e));
	for (var t = this._groups, n = t.length, r = Array(n), i = 0; i < n; ++i) for (var a = t[i], o = a.length, s = r[i] = [], c, l = 0; l < o; ++l) (c = a[l]) && e.call(c, c.__data__, l, a) && s.push(c);
	return new z(r, this._parents);
}
function Vn(e) {
	return Array(e.length);
}
function Hn() {
	return new z(this._enter || this._groups.map(Vn), this._parents);
}
function Un(e, t) {
	this.ownerDocument = e.ownerDocument, this.namespaceURI = e.namespaceURI, this._next = null, this._parent = e, this.__data__ = t;
}
Un.prototype = {
	constructor: Un,
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
function Wn(e) {
	return function() {
		return e;
	};
}
function Gn(e, t, n, r, i, a) {
	for (var o = 0, s, c = t.length, l = a.length; o < l; ++o) (s = t[o]) ? (s.__data__ = a[o], r[o] = s) : n[o] = new Un(e, a[o]);
	for (; o < c; ++o) (s = t[o]) && (i[o] = s);
}
function Kn(e, t, n, r, i, a, o) {
	var s, c, l = /* @__PURE__ */ new Map(), u = t.length, d = a.length, f = Array(u), p;
	for (s = 0; s < u; ++s) (c = t[s]) && (f[s] = p = o.call(c, c.__data__, s, t) + "", l.has(p) ? i[s] = c : l.set(p, c));
	for (s = 0; s < d; ++s) p = o.call(e, a[s], s, a) + "", (c = l.get(p)) ? (r[s] = c, c.__data__ = a[s], l.delete(p)) : n[s] = new Un(e, a[s]);
	for (s = 0; s < u; ++s) (c = t[s]) && l.get(f[s]) === c && (i[s] = c);
}
function qn(e) {
	return e.__data__;
}
function Jn(e, t) {
	if (!arguments.length) return Array.from(this, qn);
	var n = t ? Kn : Gn, r = this._parents, i = this._groups;
	typeof e != "function" && (e = Wn(e));
	for (var a = i.length, o = Array(a), s = Array(a), c = Array(a), l = 0; l < a; ++l) {
		var u = r[l], d = i[l], f = d.length, p = Yn(e.call(u, u && u.__data__, l, r)), m = p.length, h = s[l] = Array(m), g = o[l] = Array(m);
		n(u, d, h, g, c[l] = Array(f), p, t);
		for (var _ = 0, v = 0, y, b; _ < m; ++_) if (y = h[_]) {
			for (_ >= v && (v = _ + 1); !(b = g[v]) && ++v < m;);
			y._next = b || null;
		}
	}
	return o = new z(o, r), o._enter = s, o._exit = c, o;
}
function Yn(e) {
	return typeof e == "object" && "length" in e ? e : Array.from(e);
}
function Xn() {
	return new z(this._exit || this._groups.map(Vn), this._parents);
}
function Zn(e, t, n) {
	var r = this.enter(), i = this, a = this.exit();
	return typeof e == "function" ? (r = e(r), r &&= r.selection()) : r = r.append(e + ""), t != null && (i = t(i), i &&= i.selection()), n == null ? a.remove() : n(a), r && i ? r.merge(i).order() : i;
}
function Qn(e) {
	for (var t = e.selection ? e.selection() : e, n = this._groups, r = t._groups, i = n.length, a = r.length, o = Math.min(i, a), s = Array(i), c = 0; c < o; ++c) for (var l = n[c], u = r[c], d = l.length, f = s[c] = Array(d), p, m = 0; m < d; ++m) (p = l[m] || u[m]) && (f[m] = p);
	for (; c < i; ++c) s[c] = n[c];
	return new z(s, this._parents);
}
function $n() {
	for (var e = this._groups, t = -1, n = e.length; ++t < n;) for (var r = e[t], i = r.length - 1, a = r[i], o; --i >= 0;) (o = r[i]) && (a && o.compareDocumentPosition(a) ^ 4 && a.parentNode.insertBefore(o, a), a = o);
	return this;
}
function er(e) {
	e ||= tr;
	function t(t, n) {
		return t && n ? e(t.__data__, n.__data__) : !t - !n;
	}
	for (var n = this._groups, r = n.length, i = Array(r), a = 0; a < r; ++a) {
		for (var o = n[a], s = o.length, c = i[a] = Array(s), l, u = 0; u < s; ++u) (l = o[u]) && (c[u] = l);
		c.sort(t);
	}
	return new z(i, this._parents).order();
}
function tr(e, t) {
	return e < t ? -1 : e > t ? 1 : e >= t ? 0 : NaN;
}
function nr() {
	var e = arguments[0];
	return arguments[0] = this, e.apply(null, arguments), this;
}
function rr() {
	return Array.from(this);
}
function ir() {
	for (var e = this._groups, t = 0, n = e.length; t < n; ++t) for (var r = e[t], i = 0, a = r.length; i < a; ++i) {
		var o = r[i];
		if (o) return o;
	}
	return null;
}
function ar() {
	let e = 0;
	for (let t of this) ++e;
	return e;
}
function or() {
	return !this.node();
}
function sr(e) {
	for (var t = this._groups, n = 0, r = t.length; n < r; ++n) for (var i = t[n], a = 0, o = i.length, s; a < o; ++a) (s = i[a]) && e.call(s, s.__data__, a, i);
	return this;
}
function cr(e) {
	return function() {
		this.removeAttribute(e);
	};
}
function lr(e) {
	return function() {
		this.removeAttributeNS(e.space, e.local);
	};
}
function ur(e, t) {
	return function() {
		this.setAttribute(e, t);
	};
}
function dr(e, t) {
	return function() {
		this.setAttributeNS(e.space, e.local, t);
	};
}
function fr(e, t) {
	return function() {
		var n = t.apply(this, arguments);
		n == null ? this.removeAttribute(e) : this.setAttribute(e, n);
	};
}
function pr(e, t) {
	return function() {
		var n = t.apply(this, arguments);
		n == null ? this.removeAttributeNS(e.space, e.local) : this.setAttributeNS(e.space, e.local, n);
	};
}
function mr(e, t) {
	var n = vn(e);
	if (arguments.length < 2) {
		var r = this.node();
		return n.local ? r.getAttributeNS(n.space, n.local) : r.getAttribute(n);
	}
	return this.each((t == null ? n.local ? lr : cr : typeof t == "function" ? n.local ? pr : fr : n.local ? dr : ur)(n, t));
}
function hr(e) {
	return e.ownerDocument && e.ownerDocument.defaultView || e.document && e || e.defaultView;
}
function gr(e) {
	return function() {
		this.style.removeProperty(e);
	};
}
function _r(e, t, n) {
	return function() {
		this.style.setProperty(e, t, n);
	};
}
function vr(e, t, n) {
	return function() {
		var r = t.apply(this, arguments);
		r == null ? this.style.removeProperty(e) : this.style.setProperty(e, r, n);
	};
}
function yr(e, t, n) {
	return arguments.length > 1 ? this.each((t == null ? gr : typeof t == "function" ? vr : _r)(e, t, n ?? "")) : br(this.node(), e);
}
function br(e, t) {
	return e.style.getPropertyValue(t) || hr(e).getComputedStyle(e, null).getPropertyValue(t);
}
function xr(e) {
	return function() {
		delete this[e];
	};
}
function Sr(e, t) {
	return function() {
		this[e] = t;
	};
}
function Cr(e, t) {
	return function() {
		var n = t.apply(this, arguments);
		n == null ? delete this[e] : this[e] = n;
	};
}
function wr(e, t) {
	return arguments.length > 1 ? this.each((t == null ? xr : typeof t == "function" ? Cr : Sr)(e, t)) : this.node()[e];
}
function Tr(e) {
	return e.trim().split(/^|\s+/);
}
function Er(e) {
	return e.classList || new Dr(e);
}
function Dr(e) {
	this._node = e, this._names = Tr(e.getAttribute("class") || "");
}
Dr.prototype = {
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
function Or(e, t) {
	for (var n = Er(e), r = -1, i = t.length; ++r < i;) n.add(t[r]);
}
function kr(e, t) {
	for (var n = Er(e), r = -1, i = t.length; ++r < i;) n.remove(t[r]);
}
function Ar(e) {
	return function() {
		Or(this, e);
	};
}
function jr(e) {
	return function() {
		kr(this, e);
	};
}
function Mr(e, t) {
	return function() {
		(t.apply(this, arguments) ? Or : kr)(this, e);
	};
}
function Nr(e, t) {
	var n = Tr(e + "");
	if (arguments.length < 2) {
		for (var r = Er(this.node()), i = -1, a = n.length; ++i < a;) if (!r.contains(n[i])) return !1;
		return !0;
	}
	return this.each((typeof t == "function" ? Mr : t ? Ar : jr)(n, t));
}
function Pr() {
	this.textContent = "";
}
function Fr(e) {
	return function() {
		this.textContent = e;
	};
}
function Ir(e) {
	return function() {
		var t = e.apply(this, arguments);
		this.textContent = t ?? "";
	};
}
function Lr(e) {
	return arguments.length ? this.each(e == null ? Pr : (typeof e == "function" ? Ir : Fr)(e)) : this.node().textContent;
}
function Rr() {
	this.innerHTML = "";
}
function zr(e) {
	return function() {
		this.innerHTML = e;
	};
}
function Br(e) {
	return function() {
		var t = e.apply(this, arguments);
		this.innerHTML = t ?? "";
	};
}
function Vr(e) {
	return arguments.length ? this.each(e == null ? Rr : (typeof e == "function" ? Br : zr)(e)) : this.node().innerHTML;
}
function Hr() {
	this.nextSibling && this.parentNode.appendChild(this);
}
function Ur() {
	return this.each(Hr);
}
function Wr() {
	this.previousSibling && this.parentNode.insertBefore(this, this.parentNode.firstChild);
}
function Gr() {
	return this.each(Wr);
}
function Kr(e) {
	var t = typeof e == "function" ? e : xn(e);
	return this.select(function() {
		return this.appendChild(t.apply(this, arguments));
	});
}
function qr() {
	return null;
}
function Jr(e, t) {
	var n = typeof e == "function" ? e : xn(e), r = t == null ? qr : typeof t == "function" ? t : Cn(t);
	return this.select(function() {
		return this.insertBefore(n.apply(this, arguments), r.apply(this, arguments) || null);
	});
}
function Yr() {
	var e = this.parentNode;
	e && e.removeChild(this);
}
function Xr() {
	return this.each(Yr);
}
function Zr() {
	var e = this.cloneNode(!1), t = this.parentNode;
	return t ? t.insertBefore(e, this.nextSibling) : e;
}
function Qr() {
	var e = this.cloneNode(!0), t = this.parentNode;
	return t ? t.insertBefore(e, this.nextSibling) : e;
}
function $r(e) {
	return this.select(e ? Qr : Zr);
}
function ei(e) {
	return arguments.length ? this.property("__data__", e) : this.node().__data__;
}
function ti(e) {
	return function(t) {
		e.call(this, t, this.__data__);
	};
}
function ni(e) {
	return e.trim().split(/^|\s+/).map(function(e) {
		var t = "", n = e.indexOf(".");
		return n >= 0 && (t = e.slice(n + 1), e = e.slice(0, n)), {
			type: e,
			name: t
		};
	});
}
function ri(e) {
	return function() {
		var t = this.__on;
		if (t) {
			for (var n = 0, r = -1, i = t.length, a; n < i; ++n) a = t[n], (!e.type || a.type === e.type) && a.name === e.name ? this.removeEventListener(a.type, a.listener, a.options) : t[++r] = a;
			++r ? t.length = r : delete this.__on;
		}
	};
}
function ii(e, t, n) {
	return function() {
		var r = this.__on, i, a = ti(t);
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
function ai(e, t, n) {
	var r = ni(e + ""), i, a = r.length, o;
	if (arguments.length < 2) {
		var s = this.node().__on;
		if (s) {
			for (var c = 0, l = s.length, u; c < l; ++c) for (i = 0, u = s[c]; i < a; ++i) if ((o = r[i]).type === u.type && o.name === u.name) return u.value;
		}
	} else {
		for (s = t ? ii : ri, i = 0; i < a; ++i) this.each(s(r[i], t, n));
		return this;
	}
}
function oi(e, t, n) {
	var r = hr(e), i = r.CustomEvent;
	typeof i == "function" ? i = new i(t, n) : (i = r.document.createEvent("Event"), n ? (i.initEvent(t, n.bubbles, n.cancelable), i.detail = n.detail) : i.initEvent(t, !1, !1)), e.dispatchEvent(i);
}
function si(e, t) {
	return function() {
		return oi(this, e, t);
	};
}
function ci(e, t) {
	return function() {
		return oi(this, e, t.apply(this, arguments));
	};
}
function li(e, t) {
	return this.each((typeof t == "function" ? ci : si)(e, t));
}
function* ui() {
	for (var e = this._groups, t = 0, n = e.length; t < n; ++t) for (var r = e[t], i = 0, a = r.length, o; i < a; ++i) (o = r[i]) && (yield o);
}
var di = [null];
function z(e, t) {
	this._groups = e, this._parents = t;
}
function fi() {
	return new z([[document.documentElement]], di);
}
function pi() {
	return this;
}
z.prototype = fi.prototype = {
	constructor: z,
	select: wn,
	selectAll: kn,
	selectChild: Fn,
	selectChildren: zn,
	filter: Bn,
	data: Jn,
	enter: Hn,
	exit: Xn,
	join: Zn,
	merge: Qn,
	selection: pi,
	order: $n,
	sort: er,
	call: nr,
	nodes: rr,
	node: ir,
	size: ar,
	empty: or,
	each: sr,
	attr: mr,
	style: yr,
	property: wr,
	classed: Nr,
	text: Lr,
	html: Vr,
	raise: Ur,
	lower: Gr,
	append: Kr,
	insert: Jr,
	remove: Xr,
	clone: $r,
	datum: ei,
	on: ai,
	dispatch: li,
	[Symbol.iterator]: ui
};
function B(e) {
	return typeof e == "string" ? new z([[document.querySelector(e)]], [document.documentElement]) : new z([[e]], di);
}
var mi = 0;
function hi() {
	return new gi();
}
function gi() {
	this._ = "@" + (++mi).toString(36);
}
gi.prototype = hi.prototype = {
	constructor: gi,
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
function _i(e) {
	let t;
	for (; t = e.sourceEvent;) e = t;
	return e;
}
function vi(e, t) {
	if (e = _i(e), t === void 0 && (t = e.currentTarget), t) {
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
// node_modules/d3-drag/dist/d3-drag.mjs
var yi = {
	capture: !0,
	passive: !1
};
function bi(e) {
	e.preventDefault(), e.stopImmediatePropagation();
}
function xi(e) {
	var t = e.document.documentElement, n = B(e).on("dragstart.drag", bi, yi);
	"onselectstart" in t ? n.on("selectstart.drag", bi, yi) : (t.__noselect = t.style.MozUserSelect, t.style.MozUserSelect = "none");
}
function Si(e, t) {
	var n = e.document.documentElement, r = B(e).on("dragstart.drag", null);
	t && (r.on("click.drag", bi, yi), setTimeout(function() {
		r.on("click.drag", null);
	}, 0)), "onselectstart" in n ? r.on("selectstart.drag", null) : (n.style.MozUserSelect = n.__noselect, delete n.__noselect);
}
function Ci(e, { sourceEvent: t, subject: n, target: r, identifier: i, active: a, x: o, y: s, dx: c, dy: l, dispatch: u }) {
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
Ci.prototype.on = function() {
	var e = this._.on.apply(this._, arguments);
	return e === this._ ? this : e;
};
// node_modules/d3-color/dist/d3-color.mjs
function wi(e, t, n) {
	e.prototype = t.prototype = n, n.constructor = e;
}
function Ti(e, t) {
	var n = Object.create(e.prototype);
	for (var r in t) n[r] = t[r];
	return n;
}
function V() {}
var Ei = .7, Di = 1 / Ei, Oi = "\\s*([+-]?\\d+)\\s*", ki = "\\s*([+-]?(?:\\d*\\.)?\\d+(?:[eE][+-]?\\d+)?)\\s*", H = "\\s*([+-]?(?:\\d*\\.)?\\d+(?:[eE][+-]?\\d+)?)%\\s*", Ai = /^#([0-9a-f]{3,8})$/, ji = RegExp(`^rgb\\(${Oi},${Oi},${Oi}\\)$`), Mi = RegExp(`^rgb\\(${H},${H},${H}\\)$`), Ni = RegExp(`^rgba\\(${Oi},${Oi},${Oi},${ki}\\)$`), Pi = RegExp(`^rgba\\(${H},${H},${H},${ki}\\)$`), Fi = RegExp(`^hsl\\(${ki},${H},${H}\\)$`), Ii = RegExp(`^hsla\\(${ki},${H},${H},${ki}\\)$`), Li = {
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
wi(V, Hi, {
	copy(e) {
		return Object.assign(new this.constructor(), this, e);
	},
	displayable() {
		return this.rgb().displayable();
	},
	hex: Ri,
	formatHex: Ri,
	formatHex8: zi,
	formatHsl: Bi,
	formatRgb: Vi,
	toString: Vi
});
function Ri() {
	return this.rgb().formatHex();
}
function zi() {
	return this.rgb().formatHex8();
}
function Bi() {
	return ea(this).formatHsl();
}
function Vi() {
	return this.rgb().formatRgb();
}
function Hi(e) {
	var t, n;
	return e = (e + "").trim().toLowerCase(), (t = Ai.exec(e)) ? (n = t[1].length, t = parseInt(t[1], 16), n === 6 ? Ui(t) : n === 3 ? new U(t >> 8 & 15 | t >> 4 & 240, t >> 4 & 15 | t & 240, (t & 15) << 4 | t & 15, 1) : n === 8 ? Wi(t >> 24 & 255, t >> 16 & 255, t >> 8 & 255, (t & 255) / 255) : n === 4 ? Wi(t >> 12 & 15 | t >> 8 & 240, t >> 8 & 15 | t >> 4 & 240, t >> 4 & 15 | t & 240, ((t & 15) << 4 | t & 15) / 255) : null) : (t = ji.exec(e)) ? new U(t[1], t[2], t[3], 1) : (t = Mi.exec(e)) ? new U(t[1] * 255 / 100, t[2] * 255 / 100, t[3] * 255 / 100, 1) : (t = Ni.exec(e)) ? Wi(t[1], t[2], t[3], t[4]) : (t = Pi.exec(e)) ? Wi(t[1] * 255 / 100, t[2] * 255 / 100, t[3] * 255 / 100, t[4]) : (t = Fi.exec(e)) ? $i(t[1], t[2] / 100, t[3] / 100, 1) : (t = Ii.exec(e)) ? $i(t[1], t[2] / 100, t[3] / 100, t[4]) : Li.hasOwnProperty(e) ? Ui(Li[e]) : e === "transparent" ? new U(NaN, NaN, NaN, 0) : null;
}
function Ui(e) {
	return new U(e >> 16 & 255, e >> 8 & 255, e & 255, 1);
}
function Wi(e, t, n, r) {
	return r <= 0 && (e = t = n = NaN), new U(e, t, n, r);
}
function Gi(e) {
	return e instanceof V || (e = Hi(e)), e ? (e = e.rgb(), new U(e.r, e.g, e.b, e.opacity)) : new U();
}
function Ki(e, t, n, r) {
	return arguments.length === 1 ? Gi(e) : new U(e, t, n, r ?? 1);
}
function U(e, t, n, r) {
	this.r = +e, this.g = +t, this.b = +n, this.opacity = +r;
}
wi(U, Ki, Ti(V, {
	brighter(e) {
		return e = e == null ? Di : Di ** +e, new U(this.r * e, this.g * e, this.b * e, this.opacity);
	},
	darker(e) {
		return e = e == null ? Ei : Ei ** +e, new U(this.r * e, this.g * e, this.b * e, this.opacity);
	},
	rgb() {
		return this;
	},
	clamp() {
		return new U(Zi(this.r), Zi(this.g), Zi(this.b), Xi(this.opacity));
	},
	displayable() {
		return -.5 <= this.r && this.r < 255.5 && -.5 <= this.g && this.g < 255.5 && -.5 <= this.b && this.b < 255.5 && 0 <= this.opacity && this.opacity <= 1;
	},
	hex: qi,
	formatHex: qi,
	formatHex8: Ji,
	formatRgb: Yi,
	toString: Yi
}));
function qi() {
	return `#${Qi(this.r)}${Qi(this.g)}${Qi(this.b)}`;
}
function Ji() {
	return `#${Qi(this.r)}${Qi(this.g)}${Qi(this.b)}${Qi((isNaN(this.opacity) ? 1 : this.opacity) * 255)}`;
}
function Yi() {
	let e = Xi(this.opacity);
	return `${e === 1 ? "rgb(" : "rgba("}${Zi(this.r)}, ${Zi(this.g)}, ${Zi(this.b)}${e === 1 ? ")" : `, ${e})`}`;
}
function Xi(e) {
	return isNaN(e) ? 1 : Math.max(0, Math.min(1, e));
}
function Zi(e) {
	return Math.max(0, Math.min(255, Math.round(e) || 0));
}
function Qi(e) {
	return e = Zi(e), (e < 16 ? "0" : "") + e.toString(16);
}
function $i(e, t, n, r) {
	return r <= 0 ? e = t = n = NaN : n <= 0 || n >= 1 ? e = t = NaN : t <= 0 && (e = NaN), new W(e, t, n, r);
}
function ea(e) {
	if (e instanceof W) return new W(e.h, e.s, e.l, e.opacity);
	if (e instanceof V || (e = Hi(e)), !e) return new W();
	if (e instanceof W) return e;
	e = e.rgb();
	var t = e.r / 255, n = e.g / 255, r = e.b / 255, i = Math.min(t, n, r), a = Math.max(t, n, r), o = NaN, s = a - i, c = (a + i) / 2;
	return s ? (o = t === a ? (n - r) / s + (n < r) * 6 : n === a ? (r - t) / s + 2 : (t - n) / s + 4, s /= c < .5 ? a + i : 2 - a - i, o *= 60) : s = c > 0 && c < 1 ? 0 : o, new W(o, s, c, e.opacity);
}
function ta(e, t, n, r) {
	return arguments.length === 1 ? ea(e) : new W(e, t, n, r ?? 1);
}
function W(e, t, n, r) {
	this.h = +e, this.s = +t, this.l = +n, this.opacity = +r;
}
wi(W, ta, Ti(V, {
	brighter(e) {
		return e = e == null ? Di : Di ** +e, new W(this.h, this.s, this.l * e, this.opacity);
	},
	darker(e) {
		return e = e == null ? Ei : Ei ** +e, new W(this.h, this.s, this.l * e, this.opacity);
	},
	rgb() {
		var e = this.h % 360 + (this.h < 0) * 360, t = isNaN(e) || isNaN(this.s) ? 0 : this.s, n = this.l, r = n + (n < .5 ? n : 1 - n) * t, i = 2 * n - r;
		return new U(ia(e >= 240 ? e - 240 : e + 120, i, r), ia(e, i, r), ia(e < 120 ? e + 240 : e - 120, i, r), this.opacity);
	},
	clamp() {
		return new W(na(this.h), ra(this.s), ra(this.l), Xi(this.opacity));
	},
	displayable() {
		return (0 <= this.s && this.s <= 1 || isNaN(this.s)) && 0 <= this.l && this.l <= 1 && 0 <= this.opacity && this.opacity <= 1;
	},
	formatHsl() {
		let e = Xi(this.opacity);
		return `${e === 1 ? "hsl(" : "hsla("}${na(this.h)}, ${ra(this.s) * 100}%, ${ra(this.l) * 100}%${e === 1 ? ")" : `, ${e})`}`;
	}
}));
function na(e) {
	return e = (e || 0) % 360, e < 0 ? e + 360 : e;
}
function ra(e) {
	return Math.max(0, Math.min(1, e || 0));
}
function ia(e, t, n) {
	return (e < 60 ? t + (n - t) * e / 60 : e < 180 ? n : e < 240 ? t + (n - t) * (240 - e) / 60 : t) * 255;
}
var aa = Math.PI / 180, oa = 180 / Math.PI, sa = 18, ca = .96422, la = 1, ua = .82521, da = 4 / 29, fa = 6 / 29, pa = 3 * fa * fa, ma = fa * fa * fa;
function ha(e) {
	if (e instanceof G) return new G(e.l, e.a, e.b, e.opacity);
	if (e instanceof K) return Ca(e);
	e instanceof U || (e = Gi(e));
	var t = ba(e.r), n = ba(e.g), r = ba(e.b), i = _a((.2225045 * t + .7168786 * n + .0606169 * r) / la), a, o;
	return t === n && n === r ? a = o = i : (a = _a((.4360747 * t + .3850649 * n + .1430804 * r) / ca), o = _a((.0139322 * t + .0971045 * n + .7141733 * r) / ua)), new G(116 * i - 16, 500 * (a - i), 200 * (i - o), e.opacity);
}
function ga(e, t, n, r) {
	return arguments.length === 1 ? ha(e) : new G(e, t, n, r ?? 1);
}
function G(e, t, n, r) {
	this.l = +e, this.a = +t, this.b = +n, this.opacity = +r;
}
wi(G, ga, Ti(V, {
	brighter(e) {
		return new G(this.l + sa * (e ?? 1), this.a, this.b, this.opacity);
	},
	darker(e) {
		return new G(this.l - sa * (e ?? 1), this.a, this.b, this.opacity);
	},
	rgb() {
		var e = (this.l + 16) / 116, t = isNaN(this.a) ? e : e + this.a / 500, n = isNaN(this.b) ? e : e - this.b / 200;
		return t = ca * va(t), e = la * va(e), n = ua * va(n), new U(ya(3.1338561 * t - 1.6168667 * e - .4906146 * n), ya(-.9787684 * t + 1.9161415 * e + .033454 * n), ya(.0719453 * t - .2289914 * e + 1.4052427 * n), this.opacity);
	}
}));
function _a(e) {
	return e > ma ? e ** (1 / 3) : e / pa + da;
}
function va(e) {
	return e > fa ? e * e * e : pa * (e - da);
}
function ya(e) {
	return 255 * (e <= .0031308 ? 12.92 * e : 1.055 * e ** (1 / 2.4) - .055);
}
function ba(e) {
	return (e /= 255) <= .04045 ? e / 12.92 : ((e + .055) / 1.055) ** 2.4;
}
function xa(e) {
	if (e instanceof K) return new K(e.h, e.c, e.l, e.opacity);
	if (e instanceof G || (e = ha(e)), e.a === 0 && e.b === 0) return new K(NaN, 0 < e.l && e.l < 100 ? 0 : NaN, e.l, e.opacity);
	var t = Math.atan2(e.b, e.a) * oa;
	return new K(t < 0 ? t + 360 : t, Math.sqrt(e.a * e.a + e.b * e.b), e.l, e.opacity);
}
function Sa(e, t, n, r) {
	return arguments.length === 1 ? xa(e) : new K(e, t, n, r ?? 1);
}
function K(e, t, n, r) {
	this.h = +e, this.c = +t, this.l = +n, this.opacity = +r;
}
function Ca(e) {
	if (isNaN(e.h)) return new G(e.l, 0, 0, e.opacity);
	var t = e.h * aa;
	return new G(e.l, Math.cos(t) * e.c, Math.sin(t) * e.c, e.opacity);
}
wi(K, Sa, Ti(V, {
	brighter(e) {
		return new K(this.h, this.c, this.l + sa * (e ?? 1), this.opacity);
	},
	darker(e) {
		return new K(this.h, this.c, this.l - sa * (e ?? 1), this.opacity);
	},
	rgb() {
		return Ca(this).rgb();
	}
}));
var wa = -.14861, Ta = 1.78277, Ea = -.29227, Da = -.90649, Oa = 1.97294, ka = Oa * Da, Aa = Oa * Ta, ja = Ta * Ea - Da * wa;
function Ma(e) {
	if (e instanceof Pa) return new Pa(e.h, e.s, e.l, e.opacity);
	e instanceof U || (e = Gi(e));
	var t = e.r / 255, n = e.g / 255, r = e.b / 255, i = (ja * r + ka * t - Aa * n) / (ja + ka - Aa), a = r - i, o = (Oa * (n - i) - Ea * a) / Da, s = Math.sqrt(o * o + a * a) / (Oa * i * (1 - i)), c = s ? Math.atan2(o, a) * oa - 120 : NaN;
	return new Pa(c < 0 ? c + 360 : c, s, i, e.opacity);
}
function Na(e, t, n, r) {
	return arguments.length === 1 ? Ma(e) : new Pa(e, t, n, r ?? 1);
}
function Pa(e, t, n, r) {
	this.h = +e, this.s = +t, this.l = +n, this.opacity = +r;
}
wi(Pa, Na, Ti(V, {
	brighter(e) {
		return e = e == null ? Di : Di ** +e, new Pa(this.h, this.s, this.l * e, this.opacity);
	},
	darker(e) {
		return e = e == null ? Ei : Ei ** +e, new Pa(this.h, this.s, this.l * e, this.opacity);
	},
	rgb() {
		var e = isNaN(this.h) ? 0 : (this.h + 120) * aa, t = +this.l, n = isNaN(this.s) ? 0 : this.s * t * (1 - t), r = Math.cos(e), i = Math.sin(e);
		return new U(255 * (t + n * (wa * r + Ta * i)), 255 * (t + n * (Ea * r + Da * i)), 255 * (t + Oa * r * n), this.opacity);
	}
}));
var Fa = (e) => () => e;
function Ia(e, t) {
	return function(n) {
		return e + n * t;
	};
}
function La(e, t, n) {
	return e **= +n, t = t ** +n - e, n = 1 / n, function(r) {
		return (e + r * t) ** +n;
	};
}
function Ra(e, t) {
	var n = t - e;
	return n ? Ia(e, n > 180 || n < -180 ? n - 360 * Math.round(n / 360) : n) : Fa(isNaN(e) ? t : e);
}
function za(e) {
	return (e = +e) == 1 ? Ba : function(t, n) {
		return n - t ? La(t, n, e) : Fa(isNaN(t) ? n : t);
	};
}
function Ba(e, t) {
	var n = t - e;
	return n ? Ia(e, n) : Fa(isNaN(e) ? t : e);
}
var Va = (function e(t) {
	var n = za(t);
	function r(e, t) {
		var r = n((e = Ki(e)).r, (t = Ki(t)).r), i = n(e.g, t.g), a = n(e.b, t.b), o = Ba(e.opacity, t.opacity);
		return function(t) {
			return e.r = r(t), e.g = i(t), e.b = a(t), e.opacity = o(t), e + "";
		};
	}
	return r.gamma = e, r;
})(1);
function q(e, t) {
	return e = +e, t = +t, function(n) {
		return e * (1 - n) + t * n;
	};
}
var Ha = /[-+]?(?:\d+\.?\d*|\.?\d+)(?:[eE][-+]?\d+)?/g, Ua = new RegExp(Ha.source, "g");
function Wa(e) {
	return function() {
		return e;
	};
}
function Ga(e) {
	return function(t) {
		return e(t) + "";
	};
}
function Ka(e, t) {
	var n = Ha.lastIndex = Ua.lastIndex = 0, r, i, a, o = -1, s = [], c = [];
	for (e += "", t += ""; (r = Ha.exec(e)) && (i = Ua.exec(t));) (a = i.index) > n && (a = t.slice(n, a), s[o] ? s[o] += a : s[++o] = a), (r = r[0]) === (i = i[0]) ? s[o] ? s[o] += i : s[++o] = i : (s[++o] = null, c.push({
		i: o,
		x: q(r, i)
	})), n = Ua.lastIndex;
	return n < t.length && (a = t.slice(n), s[o] ? s[o] += a : s[++o] = a), s.length < 2 ? c[0] ? Ga(c[0].x) : Wa(t) : (t = c.length, function(e) {
		for (var n = 0, r; n < t; ++n) s[(r = c[n]).i] = r.x(e);
		return s.join("");
	});
}
var qa = 180 / Math.PI, Ja = {
	translateX: 0,
	translateY: 0,
	rotate: 0,
	skewX: 0,
	scaleX: 1,
	scaleY: 1
};
function Ya(e, t, n, r, i, a) {
	var o, s, c;
	return (o = Math.sqrt(e * e + t * t)) && (e /= o, t /= o), (c = e * n + t * r) && (n -= e * c, r -= t * c), (s = Math.sqrt(n * n + r * r)) && (n /= s, r /= s, c /= s), e * r < t * n && (e = -e, t = -t, c = -c, o = -o), {
		translateX: i,
		translateY: a,
		rotate: Math.atan2(t, e) * qa,
		skewX: Math.atan(c) * qa,
		scaleX: o,
		scaleY: s
	};
}
var Xa;
function Za(e) {
	let t = new (typeof DOMMatrix == "function" ? DOMMatrix : WebKitCSSMatrix)(e + "");
	return t.isIdentity ? Ja : Ya(t.a, t.b, t.c, t.d, t.e, t.f);
}
function Qa(e) {
	return e == null || (Xa ||= document.createElementNS("http://www.w3.org/2000/svg", "g"), Xa.setAttribute("transform", e), !(e = Xa.transform.baseVal.consolidate())) ? Ja : (e = e.matrix, Ya(e.a, e.b, e.c, e.d, e.e, e.f));
}
function $a(e, t, n, r) {
	function i(e) {
		return e.length ? e.pop() + " " : "";
	}
	function a(e, r, i, a, o, s) {
		if (e !== i || r !== a) {
			var c = o.push("translate(", null, t, null, n);
			s.push({
				i: c - 4,
				x: q(e, i)
			}, {
				i: c - 2,
				x: q(r, a)
			});
		} else (i || a) && o.push("translate(" + i + t + a + n);
	}
	function o(e, t, n, a) {
		e === t ? t && n.push(i(n) + "rotate(" + t + r) : (e - t > 180 ? t += 360 : t - e > 180 && (e += 360), a.push({
			i: n.push(i(n) + "rotate(", null, r) - 2,
			x: q(e, t)
		}));
	}
	function s(e, t, n, a) {
		e === t ? t && n.push(i(n) + "skewX(" + t + r) : a.push({
			i: n.push(i(n) + "skewX(", null, r) - 2,
			x: q(e, t)
		});
	}
	function c(e, t, n, r, a, o) {
		if (e !== n || t !== r) {
			var s = a.push(i(a) + "scale(", null, ",", null, ")");
			o.push({
				i: s - 4,
				x: q(e, n)
			}, {
				i: s - 2,
				x: q(t, r)
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
var eo = $a(Za, "px, ", "px)", "deg)"), to = $a(Qa, ", ", ")", ")"), no = 1e-12;
function ro(e) {
	return ((e = Math.exp(e)) + 1 / e) / 2;
}
function io(e) {
	return ((e = Math.exp(e)) - 1 / e) / 2;
}
function ao(e) {
	return ((e = Math.exp(2 * e)) - 1) / (e + 1);
}
var oo = (function e(t, n, r) {
	function i(e, i) {
		var a = e[0], o = e[1], s = e[2], c = i[0], l = i[1], u = i[2], d = c - a, f = l - o, p = d * d + f * f, m, h;
		if (p < no) h = Math.log(u / s) / t, m = function(e) {
			return [
				a + e * d,
				o + e * f,
				s * Math.exp(t * e * h)
			];
		};
		else {
			var g = Math.sqrt(p), _ = (u * u - s * s + r * p) / (2 * s * n * g), v = (u * u - s * s - r * p) / (2 * u * n * g), y = Math.log(Math.sqrt(_ * _ + 1) - _);
			h = (Math.log(Math.sqrt(v * v + 1) - v) - y) / t, m = function(e) {
				var r = e * h, i = ro(y), c = s / (n * g) * (i * ao(t * r + y) - io(y));
				return [
					a + c * d,
					o + c * f,
					s * i / ro(t * r + y)
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
function so(e) {
	return (function t(n) {
		n = +n;
		function r(t, r) {
			var i = e((t = Na(t)).h, (r = Na(r)).h), a = Ba(t.s, r.s), o = Ba(t.l, r.l), s = Ba(t.opacity, r.opacity);
			return function(e) {
				return t.h = i(e), t.s = a(e), t.l = o(e ** +n), t.opacity = s(e), t + "";
			};
		}
		return r.gamma = t, r;
	})(1);
}
so(Ra), so(Ba);
// node_modules/d3-ease/dist/d3-ease.mjs
function co(e) {
	return ((e *= 2) <= 1 ? e * e * e : (e -= 2) * e * e + 2) / 2;
}
var lo = 3;
(function e(t) {
	t = +t;
	function n(e) {
		return e ** +t;
	}
	return n.exponent = e, n;
})(lo), (function e(t) {
	t = +t;
	function n(e) {
		return 1 - (1 - e) ** t;
	}
	return n.exponent = e, n;
})(lo), (function e(t) {
	t = +t;
	function n(e) {
		return ((e *= 2) <= 1 ? e ** +t : 2 - (2 - e) ** t) / 2;
	}
	return n.exponent = e, n;
})(lo);
function uo(e) {
	return (2 ** (-10 * e) - .0009765625) * 1.0009775171065494;
}
var fo = 4 / 11;
1 / fo / fo;
var po = 1.70158;
(function e(t) {
	t = +t;
	function n(e) {
		return (e = +e) * e * (t * (e - 1) + e);
	}
	return n.overshoot = e, n;
})(po), (function e(t) {
	t = +t;
	function n(e) {
		return --e * e * ((e + 1) * t + e) + 1;
	}
	return n.overshoot = e, n;
})(po), (function e(t) {
	t = +t;
	function n(e) {
		return ((e *= 2) < 1 ? e * e * ((t + 1) * e - t) : (e -= 2) * e * ((t + 1) * e + t) + 2) / 2;
	}
	return n.overshoot = e, n;
})(po);
var mo = 2 * Math.PI, ho = 1, go = .3;
(function e(t, n) {
	var r = Math.asin(1 / (t = Math.max(1, t))) * (n /= mo);
	function i(e) {
		return t * uo(- --e) * Math.sin((r - e) / n);
	}
	return i.amplitude = function(t) {
		return e(t, n * mo);
	}, i.period = function(n) {
		return e(t, n);
	}, i;
})(ho, go), (function e(t, n) {
	var r = Math.asin(1 / (t = Math.max(1, t))) * (n /= mo);
	function i(e) {
		return 1 - t * uo(e = +e) * Math.sin((e + r) / n);
	}
	return i.amplitude = function(t) {
		return e(t, n * mo);
	}, i.period = function(n) {
		return e(t, n);
	}, i;
})(ho, go), (function e(t, n) {
	var r = Math.asin(1 / (t = Math.max(1, t))) * (n /= mo);
	function i(e) {
		return ((e = e * 2 - 1) < 0 ? t * uo(-e) * Math.sin((r - e) / n) : 2 - t * uo(e) * Math.sin((r + e) / n)) / 2;
	}
	return i.amplitude = function(t) {
		return e(t, n * mo);
	}, i.period = function(n) {
		return e(t, n);
	}, i;
})(ho, go);
// node_modules/d3-transition/dist/d3-transition.mjs
var _o = Tt("start", "end", "cancel", "interrupt"), vo = [], yo = 0, bo = 1, xo = 2, So = 3, Co = 4, wo = 5, To = 6;
function Eo(e, t, n, r, i, a) {
	var o = e.__transition;
	if (!o) e.__transition = {};
	else if (n in o) return;
	Oo(e, n, {
		name: t,
		index: r,
		group: i,
		on: _o,
		tween: vo,
		time: a.time,
		delay: a.delay,
		duration: a.duration,
		ease: a.ease,
		timer: null,
		state: yo
	});
}
function Do(e, t) {
	var n = Y(e, t);
	if (n.state > yo) throw Error("too late; already scheduled");
	return n;
}
function J(e, t) {
	var n = Y(e, t);
	if (n.state > So) throw Error("too late; already running");
	return n;
}
function Y(e, t) {
	var n = e.__transition;
	if (!n || !(n = n[t])) throw Error("transition not found");
	return n;
}
function Oo(e, t, n) {
	var r = e.__transition, i;
	r[t] = n, n.timer = Wt(a, 0, n.time);
	function a(e) {
		n.state = bo, n.timer.restart(o, n.delay, n.time), n.delay <= e && o(e - n.delay);
	}
	function o(a) {
		var l, u, d, f;
		if (n.state !== bo) return c();
		for (l in r) if (f = r[l], f.name === n.name) {
			if (f.state === So) return Xt(o);
			f.state === Co ? (f.state = To, f.timer.stop(), f.on.call("interrupt", e, e.__data__, f.index, f.group), delete r[l]) : +l < t && (f.state = To, f.timer.stop(), f.on.call("cancel", e, e.__data__, f.index, f.group), delete r[l]);
		}
		if (Xt(function() {
			n.state === So && (n.state = Co, n.timer.restart(s, n.delay, n.time), s(a));
		}), n.state = xo, n.on.call("start", e, e.__data__, n.index, n.group), n.state === xo) {
			for (n.state = So, i = Array(d = n.tween.length), l = 0, u = -1; l < d; ++l) (f = n.tween[l].value.call(e, e.__data__, n.index, n.group)) && (i[++u] = f);
			i.length = u + 1;
		}
	}
	function s(t) {
		for (var r = t < n.duration ? n.ease.call(null, t / n.duration) : (n.timer.restart(c), n.state = wo, 1), a = -1, o = i.length; ++a < o;) i[a].call(e, r);
		n.state === wo && (n.on.call("end", e, e.__data__, n.index, n.group), c());
	}
	function c() {
		for (var i in n.state = To, n.timer.stop(), delete r[t], r) return;
		delete e.__transition;
	}
}
function ko(e, t) {
	var n = e.__transition, r, i, a = !0, o;
	if (n) {
		for (o in t = t == null ? null : t + "", n) (r = n[o]).name === t ? (i = r.state > xo && r.state < wo, r.state = To, r.timer.stop(), r.on.call(i ? "interrupt" : "cancel", e, e.__data__, r.index, r.group), delete n[o]) : a = !1;
		a && delete e.__transition;
	}
}
function Ao(e) {
	return this.each(function() {
		ko(this, e);
	});
}
function jo(e, t) {
	var n, r;
	return function() {
		var i = J(this, e), a = i.tween;
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
function Mo(e, t, n) {
	var r, i;
	if (typeof n != "function") throw Error();
	return function() {
		var a = J(this, e), o = a.tween;
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
function No(e, t) {
	var n = this._id;
	if (e += "", arguments.length < 2) {
		for (var r = Y(this.node(), n).tween, i = 0, a = r.length, o; i < a; ++i) if ((o = r[i]).name === e) return o.value;
		return null;
	}
	return this.each((t == null ? jo : Mo)(n, e, t));
}
function Po(e, t, n) {
	var r = e._id;
	return e.each(function() {
		var e = J(this, r);
		(e.value ||= {})[t] = n.apply(this, arguments);
	}), function(e) {
		return Y(e, r).value[t];
	};
}
function Fo(e, t) {
	var n;
	return (typeof t == "number" ? q : t instanceof Hi ? Va : (n = Hi(t)) ? (t = n, Va) : Ka)(e, t);
}
function Io(e) {
	return function() {
		this.removeAttribute(e);
	};
}
function Lo(e) {
	return function() {
		this.removeAttributeNS(e.space, e.local);
	};
}
function Ro(e, t, n) {
	var r, i = n + "", a;
	return function() {
		var o = this.getAttribute(e);
		return o === i ? null : o === r ? a : a = t(r = o, n);
	};
}
function zo(e, t, n) {
	var r, i = n + "", a;
	return function() {
		var o = this.getAttributeNS(e.space, e.local);
		return o === i ? null : o === r ? a : a = t(r = o, n);
	};
}
function Bo(e, t, n) {
	var r, i, a;
	return function() {
		var o, s = n(this), c;
		return s == null ? void this.removeAttribute(e) : (o = this.getAttribute(e), c = s + "", o === c ? null : o === r && c === i ? a : (i = c, a = t(r = o, s)));
	};
}
function Vo(e, t, n) {
	var r, i, a;
	return function() {
		var o, s = n(this), c;
		return s == null ? void this.removeAttributeNS(e.space, e.local) : (o = this.getAttributeNS(e.space, e.local), c = s + "", o === c ? null : o === r && c === i ? a : (i = c, a = t(r = o, s)));
	};
}
function Ho(e, t) {
	var n = vn(e), r = n === "transform" ? to : Fo;
	return this.attrTween(e, typeof t == "function" ? (n.local ? Vo : Bo)(n, r, Po(this, "attr." + e, t)) : t == null ? (n.local ? Lo : Io)(n) : (n.local ? zo : Ro)(n, r, t));
}
function Uo(e, t) {
	return function(n) {
		this.setAttribute(e, t.call(this, n));
	};
}
function Wo(e, t) {
	return function(n) {
		this.setAttributeNS(e.space, e.local, t.call(this, n));
	};
}
function Go(e, t) {
	var n, r;
	function i() {
		var i = t.apply(this, arguments);
		return i !== r && (n = (r = i) && Wo(e, i)), n;
	}
	return i._value = t, i;
}
function Ko(e, t) {
	var n, r;
	function i() {
		var i = t.apply(this, arguments);
		return i !== r && (n = (r = i) && Uo(e, i)), n;
	}
	return i._value = t, i;
}
function qo(e, t) {
	var n = "attr." + e;
	if (arguments.length < 2) return (n = this.tween(n)) && n._value;
	if (t == null) return this.tween(n, null);
	if (typeof t != "function") throw Error();
	var r = vn(e);
	return this.tween(n, (r.local ? Go : Ko)(r, t));
}
function Jo(e, t) {
	return function() {
		Do(this, e).delay = +t.apply(this, arguments);
	};
}
function Yo(e, t) {
	return t = +t, function() {
		Do(this, e).delay = t;
	};
}
function Xo(e) {
	var t = this._id;
	return arguments.length ? this.each((typeof e == "function" ? Jo : Yo)(t, e)) : Y(this.node(), t).delay;
}
function Zo(e, t) {
	return function() {
		J(this, e).duration = +t.apply(this, arguments);
	};
}
function Qo(e, t) {
	return t = +t, function() {
		J(this, e).duration = t;
	};
}
function $o(e) {
	var t = this._id;
	return arguments.length ? this.each((typeof e == "function" ? Zo : Qo)(t, e)) : Y(this.node(), t).duration;
}
function es(e, t) {
	if (typeof t != "function") throw Error();
	return function() {
		J(this, e).ease = t;
	};
}
function ts(e) {
	var t = this._id;
	return arguments.length ? this.each(es(t, e)) : Y(this.node(), t).ease;
}
function ns(e, t) {
	return function() {
		var n = t.apply(this, arguments);
		if (typeof n != "function") throw Error();
		J(this, e).ease = n;
	};
}
function rs(e) {
	if (typeof e != "function") throw Error();
	return this.each(ns(this._id, e));
}
function is(e) {
	typeof e != "function" && (e = An(e));
	for (var t = this._groups, n = t.length, r = Array(n), i = 0; i < n; ++i) for (var a = t[i], o = a.length, s = r[i] = [], c, l = 0; l < o; ++l) (c = a[l]) && e.call(c, c.__data__, l, a) && s.push(c);
	return new X(r, this._parents, this._name, this._id);
}
function as(e) {
	if (e._id !== this._id) throw Error();
	for (var t = this._groups, n = e._groups, r = t.length, i = n.length, a = Math.min(r, i), o = Array(r), s = 0; s < a; ++s) for (var c = t[s], l = n[s], u = c.length, d = o[s] = Array(u), f, p = 0; p < u; ++p) (f = c[p] || l[p]) && (d[p] = f);
	for (; s < r; ++s) o[s] = t[s];
	return new X(o, this._parents, this._name, this._id);
}
function os(e) {
	return (e + "").trim().split(/^|\s+/).every(function(e) {
		var t = e.indexOf(".");
		return t >= 0 && (e = e.slice(0, t)), !e || e === "start";
	});
}
function ss(e, t, n) {
	var r, i, a = os(t) ? Do : J;
	return function() {
		var o = a(this, e), s = o.on;
		s !== r && (i = (r = s).copy()).on(t, n), o.on = i;
	};
}
function cs(e, t) {
	var n = this._id;
	return arguments.length < 2 ? Y(this.node(), n).on.on(e) : this.each(ss(n, e, t));
}
function ls(e) {
	return function() {
		var t = this.parentNode;
		for (var n in this.__transition) if (+n !== e) return;
		t && t.removeChild(this);
	};
}
function us() {
	return this.on("end.remove", ls(this._id));
}
function ds(e) {
	var t = this._name, n = this._id;
	typeof e != "function" && (e = Cn(e));
	for (var r = this._groups, i = r.length, a = Array(i), o = 0; o < i; ++o) for (var s = r[o], c = s.length, l = a[o] = Array(c), u, d, f = 0; f < c; ++f) (u = s[f]) && (d = e.call(u, u.__data__, f, s)) && ("__data__" in u && (d.__data__ = u.__data__), l[f] = d, Eo(l[f], t, n, f, l, Y(u, n)));
	return new X(a, this._parents, t, n);
}
function fs(e) {
	var t = this._name, n = this._id;
	typeof e != "function" && (e = Dn(e));
	for (var r = this._groups, i = r.length, a = [], o = [], s = 0; s < i; ++s) for (var c = r[s], l = c.length, u, d = 0; d < l; ++d) if (u = c[d]) {
		for (var f = e.call(u, u.__data__, d, c), p, m = Y(u, n), h = 0, g = f.length; h < g; ++h) (p = f[h]) && Eo(p, t, n, h, f, m);
		a.push(f), o.push(u);
	}
	return new X(a, o, t, n);
}
var ps = fi.prototype.constructor;
function ms() {
	return new ps(this._groups, this._parents);
}
function hs(e, t) {
	var n, r, i;
	return function() {
		var a = br(this, e), o = (this.style.removeProperty(e), br(this, e));
		return a === o ? null : a === n && o === r ? i : i = t(n = a, r = o);
	};
}
function gs(e) {
	return function() {
		this.style.removeProperty(e);
	};
}
function _s(e, t, n) {
	var r, i = n + "", a;
	return function() {
		var o = br(this, e);
		return o === i ? null : o === r ? a : a = t(r = o, n);
	};
}
function vs(e, t, n) {
	var r, i, a;
	return function() {
		var o = br(this, e), s = n(this), c = s + "";
		return s ?? (c = s = (this.style.removeProperty(e), br(this, e))), o === c ? null : o === r && c === i ? a : (i = c, a = t(r = o, s));
	};
}
function ys(e, t) {
	var n, r, i, a = "style." + t, o = "end." + a, s;
	return function() {
		var c = J(this, e), l = c.on, u = c.value[a] == null ? s ||= gs(t) : void 0;
		(l !== n || i !== u) && (r = (n = l).copy()).on(o, i = u), c.on = r;
	};
}
function bs(e, t, n) {
	var r = (e += "") == "transform" ? eo : Fo;
	return t == null ? this.styleTween(e, hs(e, r)).on("end.style." + e, gs(e)) : typeof t == "function" ? this.styleTween(e, vs(e, r, Po(this, "style." + e, t))).each(ys(this._id, e)) : this.styleTween(e, _s(e, r, t), n).on("end.style." + e, null);
}
function xs(e, t, n) {
	return function(r) {
		this.style.setProperty(e, t.call(this, r), n);
	};
}
function Ss(e, t, n) {
	var r, i;
	function a() {
		var a = t.apply(this, arguments);
		return a !== i && (r = (i = a) && xs(e, a, n)), r;
	}
	return a._value = t, a;
}
function Cs(e, t, n) {
	var r = "style." + (e += "");
	if (arguments.length < 2) return (r = this.tween(r)) && r._value;
	if (t == null) return this.tween(r, null);
	if (typeof t != "function") throw Error();
	return this.tween(r, Ss(e, t, n ?? ""));
}
function ws(e) {
	return function() {
		this.textContent = e;
	};
}
function Ts(e) {
	return function() {
		var t = e(this);
		this.textContent = t ?? "";
	};
}
function Es(e) {
	return this.tween("text", typeof e == "function" ? Ts(Po(this, "text", e)) : ws(e == null ? "" : e + ""));
}
function Ds(e) {
	return function(t) {
		this.textContent = e.call(this, t);
	};
}
function Os(e) {
	var t, n;
	function r() {
		var r = e.apply(this, arguments);
		return r !== n && (t = (n = r) && Ds(r)), t;
	}
	return r._value = e, r;
}
function ks(e) {
	var t = "text";
	if (arguments.length < 1) return (t = this.tween(t)) && t._value;
	if (e == null) return this.tween(t, null);
	if (typeof e != "function") throw Error();
	return this.tween(t, Os(e));
}
function As() {
	for (var e = this._name, t = this._id, n = Ns(), r = this._groups, i = r.length, a = 0; a < i; ++a) for (var o = r[a], s = o.length, c, l = 0; l < s; ++l) if (c = o[l]) {
		var u = Y(c, t);
		Eo(c, e, n, l, o, {
			time: u.time + u.delay + u.duration,
			delay: 0,
			duration: u.duration,
			ease: u.ease
		});
	}
	return new X(r, this._parents, e, n);
}
function js() {
	var e, t, n = this, r = n._id, i = n.size();
	return new Promise(function(a, o) {
		var s = { value: o }, c = { value: function() {
			--i === 0 && a();
		} };
		n.each(function() {
			var n = J(this, r), i = n.on;
			i !== e && (t = (e = i).copy(), t._.cancel.push(s), t._.interrupt.push(s), t._.end.push(c)), n.on = t;
		}), i === 0 && a();
	});
}
var Ms = 0;
function X(e, t, n, r) {
	this._groups = e, this._parents = t, this._name = n, this._id = r;
}
function Ns() {
	return ++Ms;
}
var Z = fi.prototype;
X.prototype = {
	constructor: X,
	select: ds,
	selectAll: fs,
	selectChild: Z.selectChild,
	selectChildren: Z.selectChildren,
	filter: is,
	merge: as,
	selection: ms,
	transition: As,
	call: Z.call,
	nodes: Z.nodes,
	node: Z.node,
	size: Z.size,
	empty: Z.empty,
	each: Z.each,
	on: cs,
	attr: Ho,
	attrTween: qo,
	style: bs,
	styleTween: Cs,
	text: Es,
	textTween: ks,
	remove: us,
	tween: No,
	delay: Xo,
	duration: $o,
	ease: ts,
	easeVarying: rs,
	end: js,
	[Symbol.iterator]: Z[Symbol.iterator]
};
var Ps = {
	time: null,
	delay: 0,
	duration: 250,
	ease: co
};
function Fs(e, t) {
	for (var n; !(n = e.__transition) || !(n = n[t]);) if (!(e = e.parentNode)) throw Error(`transition ${t} not found`);
	return n;
}
function Is(e) {
	var t, n;
	e instanceof X ? (t = e._id, e = e._name) : (t = Ns(), (n = Ps).time = Vt(), e = e == null ? null : e + "");
	for (var r = this._groups, i = r.length, a = 0; a < i; ++a) for (var o = r[a], s = o.length, c, l = 0; l < s; ++l) (c = o[l]) && Eo(c, e, t, l, o, n || Fs(c, t));
	return new X(r, this._parents, e, t);
}
fi.prototype.interrupt = Ao, fi.prototype.transition = Is;
// node_modules/d3-zoom/dist/d3-zoom.mjs
var Ls = (e) => () => e;
function Rs(e, { sourceEvent: t, target: n, transform: r, dispatch: i }) {
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
function Q(e, t, n) {
	this.k = e, this.x = t, this.y = n;
}
Q.prototype = {
	constructor: Q,
	scale: function(e) {
		return e === 1 ? this : new Q(this.k * e, this.x, this.y);
	},
	translate: function(e, t) {
		return e === 0 & t === 0 ? this : new Q(this.k, this.x + this.k * e, this.y + this.k * t);
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
var zs = new Q(1, 0, 0);
Bs.prototype = Q.prototype;
function Bs(e) {
	for (; !e.__zoom;) if (!(e = e.parentNode)) return zs;
	return e.__zoom;
}
function Vs(e) {
	e.stopImmediatePropagation();
}
function Hs(e) {
	e.preventDefault(), e.stopImmediatePropagation();
}
function Us(e) {
	return (!e.ctrlKey || e.type === "wheel") && !e.button;
}
function Ws() {
	var e = this;
	return e instanceof SVGElement ? (e = e.ownerSVGElement || e, e.hasAttribute("viewBox") ? (e = e.viewBox.baseVal, [[e.x, e.y], [e.x + e.width, e.y + e.height]]) : [[0, 0], [e.width.baseVal.value, e.height.baseVal.value]]) : [[0, 0], [e.clientWidth, e.clientHeight]];
}
function Gs() {
	return this.__zoom || zs;
}
function Ks(e) {
	return -e.deltaY * (e.deltaMode === 1 ? .05 : e.deltaMode ? 1 : .002) * (e.ctrlKey ? 10 : 1);
}
function qs() {
	return navigator.maxTouchPoints || "ontouchstart" in this;
}
function Js(e, t, n) {
	var r = e.invertX(t[0][0]) - n[0][0], i = e.invertX(t[1][0]) - n[1][0], a = e.invertY(t[0][1]) - n[0][1], o = e.invertY(t[1][1]) - n[1][1];
	return e.translate(i > r ? (r + i) / 2 : Math.min(0, r) || Math.max(0, i), o > a ? (a + o) / 2 : Math.min(0, a) || Math.max(0, o));
}
function Ys() {
	var e = Us, t = Ws, n = Js, r = Ks, i = qs, a = [0, Infinity], o = [[-Infinity, -Infinity], [Infinity, Infinity]], s = 250, c = oo, l = Tt("start", "zoom", "end"), u, d, f, p = 500, m = 150, h = 0, g = 10;
	function _(e) {
		e.property("__zoom", Gs).on("wheel.zoom", w, { passive: !1 }).on("mousedown.zoom", T).on("dblclick.zoom", ee).filter(i).on("touchstart.zoom", E).on("touchmove.zoom", D).on("touchend.zoom touchcancel.zoom", te).style("-webkit-tap-highlight-color", "rgba(0,0,0,0)");
	}
	_.transform = function(e, t, n, r) {
		var i = e.selection ? e.selection() : e;
		i.property("__zoom", Gs), e === i ? i.interrupt().each(function() {
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
			return n(zs.translate(c[0], c[1]).scale(s.k).translate(typeof r == "function" ? -r.apply(this, arguments) : -r, typeof i == "function" ? -i.apply(this, arguments) : -i), e, o);
		}, a, s);
	};
	function v(e, t) {
		return t = Math.max(a[0], Math.min(a[1], t)), t === e.k ? e : new Q(t, e.x, e.y);
	}
	function y(e, t, n) {
		var r = t[0] - n[0] * e.k, i = t[1] - n[1] * e.k;
		return r === e.x && i === e.y ? e : new Q(e.k, r, i);
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
					e = new Q(n, l[0] - t[0] * n, l[1] - t[1] * n);
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
			var t = B(this.that).datum();
			l.call(e, this.that, new Rs(e, {
				sourceEvent: this.sourceEvent,
				target: _,
				transform: this.that.__zoom,
				dispatch: l
			}), t);
		}
	};
	function w(t, ...i) {
		if (!e.apply(this, arguments)) return;
		var s = S(this, i).event(t), c = this.__zoom, l = Math.max(a[0], Math.min(a[1], c.k * 2 ** r.apply(this, arguments))), u = vi(t);
		if (s.wheel) (s.mouse[0][0] !== u[0] || s.mouse[0][1] !== u[1]) && (s.mouse[1] = c.invert(s.mouse[0] = u)), clearTimeout(s.wheel);
		else if (c.k === l) return;
		else s.mouse = [u, c.invert(u)], ko(this), s.start();
		Hs(t), s.wheel = setTimeout(d, m), s.zoom("mouse", n(y(v(c, l), s.mouse[0], s.mouse[1]), s.extent, o));
		function d() {
			s.wheel = null, s.end();
		}
	}
	function T(t, ...r) {
		if (f || !e.apply(this, arguments)) return;
		var i = t.currentTarget, a = S(this, r, !0).event(t), s = B(t.view).on("mousemove.zoom", d, !0).on("mouseup.zoom", p, !0), c = vi(t, i), l = t.clientX, u = t.clientY;
		xi(t.view), Vs(t), a.mouse = [c, this.__zoom.invert(c)], ko(this), a.start();
		function d(e) {
			if (Hs(e), !a.moved) {
				var t = e.clientX - l, r = e.clientY - u;
				a.moved = t * t + r * r > h;
			}
			a.event(e).zoom("mouse", n(y(a.that.__zoom, a.mouse[0] = vi(e, i), a.mouse[1]), a.extent, o));
		}
		function p(e) {
			s.on("mousemove.zoom mouseup.zoom", null), Si(e.view, a.moved), Hs(e), a.event(e).end();
		}
	}
	function ee(r, ...i) {
		if (e.apply(this, arguments)) {
			var a = this.__zoom, c = vi(r.changedTouches ? r.changedTouches[0] : r, this), l = a.invert(c), u = a.k * (r.shiftKey ? .5 : 2), d = n(y(v(a, u), c, l), t.apply(this, i), o);
			Hs(r), s > 0 ? B(this).transition().duration(s).call(x, d, c, r) : B(this).call(_.transform, d, c, r);
		}
	}
	function E(t, ...n) {
		if (e.apply(this, arguments)) {
			var r = t.touches, i = r.length, a = S(this, n, t.changedTouches.length === i).event(t), o, s, c, l;
			for (Vs(t), s = 0; s < i; ++s) c = r[s], l = vi(c, this), l = [
				l,
				this.__zoom.invert(l),
				c.identifier
			], a.touch0 ? !a.touch1 && a.touch0[2] !== l[2] && (a.touch1 = l, a.taps = 0) : (a.touch0 = l, o = !0, a.taps = 1 + !!u);
			u &&= clearTimeout(u), o && (a.taps < 2 && (d = l[0], u = setTimeout(function() {
				u = null;
			}, p)), ko(this), a.start());
		}
	}
	function D(e, ...t) {
		if (this.__zooming) {
			var r = S(this, t).event(e), i = e.changedTouches, a = i.length, s, c, l, u;
			for (Hs(e), s = 0; s < a; ++s) c = i[s], l = vi(c, this), r.touch0 && r.touch0[2] === c.identifier ? r.touch0[0] = l : r.touch1 && r.touch1[2] === c.identifier && (r.touch1[0] = l);
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
			for (Vs(e), f && clearTimeout(f), f = setTimeout(function() {
				f = null;
			}, p), a = 0; a < i; ++a) o = r[a], n.touch0 && n.touch0[2] === o.identifier ? delete n.touch0 : n.touch1 && n.touch1[2] === o.identifier && delete n.touch1;
			if (n.touch1 && !n.touch0 && (n.touch0 = n.touch1, delete n.touch1), n.touch0) n.touch0[1] = this.__zoom.invert(n.touch0[0]);
			else if (n.end(), n.taps === 2 && (o = vi(o, this), Math.hypot(d[0] - o[0], d[1] - o[1]) < g)) {
				var s = B(this).on("dblclick.zoom");
				s && s.apply(this, arguments);
			}
		}
	}
	return _.wheelDelta = function(e) {
		return arguments.length ? (r = typeof e == "function" ? e : Ls(+e), _) : r;
	}, _.filter = function(t) {
		return arguments.length ? (e = typeof t == "function" ? t : Ls(!!t), _) : e;
	}, _.touchable = function(e) {
		return arguments.length ? (i = typeof e == "function" ? e : Ls(!!e), _) : i;
	}, _.extent = function(e) {
		return arguments.length ? (t = typeof e == "function" ? e : Ls([[+e[0][0], +e[0][1]], [+e[1][0], +e[1][1]]]), _) : t;
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
// src/graph.tsx
var $ = 30, Xs = 16, Zs = 4, Qs = (e) => e.length > 20 ? e.slice(0, 19) + "…" : e, $s = (e) => e.width < 600 ? {
	font: 12,
	wide: 6.9,
	around: 18
} : {
	font: 14,
	wide: 7.8,
	around: 32
};
function ec(e, t, n) {
	let { wide: r, around: i } = $s(n), a = e.nodes.map(({ name: n }, a) => {
		let o = 2 * Math.PI * a / e.nodes.length, s = i + r * Qs(n).length, c = Math.max(...(t.get(n)?.levels ?? []).map((e) => Qs(String(e)).length), 0) + 7;
		return {
			name: n,
			x: 200 * Math.cos(o),
			y: 130 * Math.sin(o),
			width: s,
			room: Math.max(s, 6.6 * c)
		};
	}), o = Math.max(...e.edges.map((e) => e.strength), 1e-9), s = e.edges.map((e) => ({
		source: e.a,
		target: e.b,
		weight: e.strength / o
	}));
	for (let t of e.groups.slice(0, 8)) for (let e of t.members.slice(1)) s.push({
		source: t.members[0],
		target: e,
		weight: .05
	});
	let c = new Set(s.flatMap((e) => [e.source, e.target])), l = a.length > 30 ? 80 : 170, u = (e) => (t) => c.has(t.name) ? e : .2;
	fn(a).force("link", nn(s).id((e) => e.name).distance(l).strength((e) => .03 + .35 * Math.sqrt(e.weight))).force("charge", pn().strength(a.length > 30 ? -420 : -1300)).force("apart", $t((e) => e.room / 2 + 10)).force("x", mn(0).strength(u(.05))).force("y", hn(0).strength(u(.11))).stop().tick(320);
	let d = a.reduce((e, t) => e + 2.4 * (t.room + 16) * 58, 0), f = {
		width: n.width,
		height: Math.max(n.height, d / n.width)
	};
	return tc(a, f), {
		places: new Map(a.map((e) => [e.name, e])),
		pane: f
	};
}
function tc(e, t) {
	let n = (t, n, r) => {
		let i = Math.min(...e.map((e) => e[t])), a = Math.max(...e.map((e) => e[t]));
		for (let o of e) o[t] = n(o) + (a > i ? (o[t] - i) / (a - i) : .5) * (r(o) - n(o));
	}, r = (e) => e.room / 2 + 6, i = (e) => t.width - e.room / 2 - 6, a = () => 25, o = () => t.height - $ / 2 - Xs - 10;
	n("x", r, i), n("y", a, o);
	for (let t = 0; t < 300; t++) {
		let t = !1;
		e.forEach((n, r) => e.slice(r + 1).forEach((e) => {
			let r = (n.room + e.room) / 2 + 12 - Math.abs(n.x - e.x), i = 56 - Math.abs(n.y - e.y);
			if (r <= .01 || i <= .01) return;
			t = !0;
			let a = r < i ? "x" : "y", o = Math.min(r, i) / 2 * (n[a] < e[a] ? -1 : 1);
			n[a] += o, e[a] -= o;
		}));
		for (let t of e) t.x = Math.min(Math.max(t.x, r(t)), i(t)), t.y = Math.min(Math.max(t.y, a()), o());
		if (!t) return;
	}
}
var nc = (e) => e > 0 ? "with" : e < 0 ? "against" : "neither";
function rc(e) {
	let { width: t, opacity: n } = ac(e.share ?? .4);
	return /* @__PURE__ */ P("svg", {
		class: "graph-key",
		width: "30",
		height: "12",
		"aria-hidden": "true",
		children: /* @__PURE__ */ P("line", {
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
var ic = (e, t) => `${e.words}: ${t} ${Xe(e.strength, e.approximate)}`, ac = (e) => ({
	width: 1 + 5.5 * e ** .6,
	opacity: .4 + .55 * e ** .5
}), oc = (e) => e.groups.slice(0, Zs);
function sc(e) {
	let { graph: t, clamped: n } = e, r = new Set(t.edges.map((e) => nc(e.direction))), i = oc(t), a = t.edges.filter((e) => e.approximate).length;
	return /* @__PURE__ */ P("ul", {
		class: "legend",
		"aria-label": "legend",
		children: [
			r.has("with") && /* @__PURE__ */ P("li", { children: [/* @__PURE__ */ P(rc, { name: "with" }), " goes with"] }),
			r.has("against") && /* @__PURE__ */ P("li", { children: [/* @__PURE__ */ P(rc, { name: "against" }), " goes against"] }),
			r.has("neither") && /* @__PURE__ */ P("li", { children: [
				/* @__PURE__ */ P(rc, { name: "neither" }),
				" ",
				t.edges.some((e) => e.direction === 0 && e.kind !== null) ? "no single direction" : "joined; no direction is given"
			] }),
			t.total_edges > t.edges.length && /* @__PURE__ */ P("li", { children: [
				"the strongest ",
				t.edges.length,
				" of ",
				t.total_edges.toLocaleString("en"),
				" pairs"
			] }),
			r.size > 0 && /* @__PURE__ */ P("li", { children: [
				/* @__PURE__ */ P(rc, {
					name: "width",
					share: 0
				}),
				/* @__PURE__ */ P(rc, {
					name: "width",
					share: 1
				}),
				" width and opacity grow with ",
				t.measure,
				a > 0 && (a === t.edges.length ? " (approximate)" : " (some approximate)")
			] }),
			i.length > 0 && /* @__PURE__ */ P("li", { children: ["shaded: joined by an interaction of three or more variables", t.total_groups > i.length && `, the strongest ${i.length} of ${t.total_groups.toLocaleString("en")}`] }),
			i.map((e, t) => /* @__PURE__ */ P("li", {
				title: e.words,
				children: [/* @__PURE__ */ P("i", { class: `group shade${t}` }), e.members.join(", ")]
			})),
			/* @__PURE__ */ P("li", { children: [/* @__PURE__ */ P("i", { class: "level" }), " fill: probability of the level below the name, the likeliest one"] }),
			n && /* @__PURE__ */ P("li", { children: [/* @__PURE__ */ P("i", { class: "clamped" }), " clamped"] })
		]
	});
}
function cc(e) {
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
function lc(e) {
	let { graph: t, variables: n, now: r, given: i, focus: a, clamp: o, look: s } = e, [c, l] = we({
		width: 960,
		height: 600
	}), { places: u, pane: d } = ke(() => ec(t, n, c), [
		t,
		n,
		c
	]), { font: f } = $s(c), p = Oe(null), m = Oe(null);
	De(() => {
		let e = () => {
			let e = Math.max(m.current.clientWidth, 200), t = Math.min(Math.max(.62 * innerHeight, 320), 700);
			l((n) => Math.abs(n.width - e) < 2 && Math.abs(n.height - t) < 40 ? n : {
				width: e,
				height: t
			});
		};
		e();
		let t = new ResizeObserver(e);
		return t.observe(m.current), () => t.disconnect();
	}, []);
	let h = Oe(null);
	Ee(() => {
		let e = Ys().scaleExtent([.3, 5]).filter((e) => !e.ctrlKey && !e.button && (e.type !== "touchstart" || e.touches.length > 1)).on("zoom", (e) => h.current?.setAttribute("transform", String(e.transform))), t = B(p.current);
		return t.call(e).call(e.transform, zs).on("dblclick.zoom", null), () => {
			t.on(".zoom", null);
		};
	}, [t]);
	let g = Math.max(...t.edges.map((e) => e.strength), 1e-9), _ = (e) => {
		let t = n.get(e)?.levels ?? [], r = e in i ? t.indexOf(i[e]) : -1;
		o(e, r + 1 < t.length ? t[r + 1] : null);
	};
	return /* @__PURE__ */ P("div", {
		ref: m,
		children: /* @__PURE__ */ P("svg", {
			ref: p,
			class: "graph",
			viewBox: `0 0 ${d.width} ${d.height}`,
			style: { height: `${d.height}px` },
			role: "group",
			"aria-label": "interaction graph",
			children: /* @__PURE__ */ P("g", {
				ref: h,
				children: [
					oc(t).map((e, n) => {
						let r = cc(e.members.map((e) => [u.get(e).x, u.get(e).y]));
						return /* @__PURE__ */ P("g", {
							class: `shade shade${n}`,
							children: [/* @__PURE__ */ P("polygon", {
								points: r.map((e) => e.join(",")).join(" "),
								"stroke-width": "46",
								"stroke-linejoin": "round"
							}), /* @__PURE__ */ P("title", { children: ic(e, t.measure) })]
						});
					}),
					[...t.edges].reverse().map((e) => {
						let n = u.get(e.a), r = u.get(e.b), { width: i, opacity: a } = ac(e.strength / g);
						return /* @__PURE__ */ P("line", {
							x1: n.x,
							y1: n.y,
							x2: r.x,
							y2: r.y,
							"stroke-width": i,
							"stroke-opacity": a,
							class: nc(e.direction),
							children: /* @__PURE__ */ P("title", { children: ic(e, t.measure) })
						});
					}),
					[...u.values()].map((e) => {
						let t = n.get(e.name), o = r[e.name] ?? t?.prior ?? [], c = e.name in i, l = o.indexOf(Math.max(...o)), u = c ? 1 : o[l] ?? 0, d = c ? `= ${Qs(String(i[e.name]))}` : t && l >= 0 ? `${Qs(String(t.levels[l]))} ${qe(u)}` : "";
						return /* @__PURE__ */ P("g", {
							class: `node${c ? " clamped" : ""}${e.name === a ? " focus" : ""}`,
							tabindex: 0,
							role: "button",
							"aria-pressed": c,
							transform: `translate(${e.x} ${e.y})`,
							onClick: (t) => t.shiftKey ? s(e.name) : _(e.name),
							onKeyDown: (t) => {
								(t.key === "Enter" || t.key === " ") && (t.preventDefault(), _(e.name)), t.key === "f" && s(e.name);
							},
							children: [
								/* @__PURE__ */ P("rect", {
									class: "body",
									x: -e.width / 2,
									y: -15,
									width: e.width,
									height: $,
									rx: $ / 2
								}),
								/* @__PURE__ */ P("svg", {
									x: -e.width / 2,
									y: -15,
									width: e.width,
									height: $,
									"aria-hidden": "true",
									children: /* @__PURE__ */ P("rect", {
										class: "level",
										width: e.width * u,
										height: $,
										rx: $ / 2
									})
								}),
								/* @__PURE__ */ P("rect", {
									class: "line",
									x: -e.width / 2,
									y: -15,
									width: e.width,
									height: $,
									rx: $ / 2
								}),
								/* @__PURE__ */ P("text", {
									"text-anchor": "middle",
									dy: ".35em",
									style: { fontSize: `${f}px` },
									children: [Qs(e.name), " "]
								}),
								/* @__PURE__ */ P("text", {
									class: "told",
									"text-anchor": "middle",
									y: 28,
									children: d
								})
							]
						});
					})
				]
			})
		})
	});
}
function uc(e) {
	let { ask: t, model: n, given: r, change: i, focus: a, look: o, version: s, seen: c, failed: l } = e, [u, d] = we(2), f = ze(() => t.graph(n, a, u), [
		n,
		a,
		u,
		s
	], l), p = f.answer, m = p?.nodes.map((e) => e.name) ?? [], h = ze(() => m.length ? t.marginals(n, r, m) : null, [
		n,
		r,
		m,
		s
	], l);
	Ee(() => {
		h.answer && c(h.answer);
	}, [h.answer]);
	let g = ke(() => new Map(p?.nodes.map((e) => [e.name, e])), [p]);
	return p ? /* @__PURE__ */ P("section", {
		class: "view",
		"aria-label": "Graph",
		children: [
			/* @__PURE__ */ P("div", {
				class: "row",
				children: a === null ? /* @__PURE__ */ P("span", { children: p.nodes.length < p.total_nodes ? `The ${p.nodes.length} of ${p.total_nodes.toLocaleString("en")} variables that are joined most strongly` : "All variables" }) : /* @__PURE__ */ P(y, { children: [
					/* @__PURE__ */ P("span", { children: [
						/* @__PURE__ */ P("b", { children: a }),
						" and its neighbours, up to ",
						u,
						" ",
						u === 1 ? "step" : "steps",
						" away"
					] }),
					/* @__PURE__ */ P("label", { children: ["Steps ", /* @__PURE__ */ P("input", {
						type: "number",
						min: 1,
						max: 6,
						value: u,
						onInput: (e) => d(Math.min(6, Math.max(1, +e.target.value || 1)))
					})] }),
					/* @__PURE__ */ P("button", {
						type: "button",
						onClick: () => o(null),
						children: "Show all"
					})
				] })
			}),
			/* @__PURE__ */ P(sc, {
				graph: p,
				clamped: Object.keys(r).length > 0
			}),
			/* @__PURE__ */ P(lc, {
				graph: p,
				variables: g,
				now: h.answer?.marginals ?? {},
				given: r,
				focus: a,
				clamp: (e, t) => i(Ve(r, e, t)),
				look: o
			}),
			/* @__PURE__ */ P("p", {
				class: "hint",
				children: "Point at a line or a shade for its words and its numbers. Click a variable to clamp its levels in turn; shift-click to show its neighbours. Keyboard: Tab to reach it, Enter to clamp, f for its neighbours. Drag and scroll, or use two fingers, to move."
			})
		]
	}) : f.wrong ? /* @__PURE__ */ P("pre", {
		class: "wrong",
		role: "alert",
		children: f.wrong
	}) : null;
}
// src/header.tsx
var dc = (e, t) => `${e.toLocaleString("en")} ${t}${e === 1 ? "" : "s"}`, fc = ({ model: e }) => /* @__PURE__ */ P("span", {
	class: "about",
	children: [
		e.kind,
		", ",
		e.n_variables.toLocaleString("en"),
		" variables, ",
		dc(e.n_interactions, e.called),
		e.n_rows > 0 && `, ${e.n_rows.toLocaleString("en")} rows`
	]
}), pc = ({ store: e }) => /* @__PURE__ */ P("span", {
	class: "steps",
	role: "group",
	"aria-label": "steps",
	children: [
		/* @__PURE__ */ P("button", {
			type: "button",
			disabled: !e.canUndo,
			onClick: () => e.undo(),
			children: "Undo"
		}),
		/* @__PURE__ */ P("button", {
			type: "button",
			disabled: !e.canRedo,
			onClick: () => e.redo(),
			children: "Redo"
		}),
		/* @__PURE__ */ P("button", {
			type: "button",
			onClick: () => e.reset(),
			children: "Reset"
		})
	]
});
// src/messages.ts
function mc(e) {
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
var hc = ":root,:host{color-scheme:light dark;--ink:light-dark(#1b1f24,#e8eaed);--muted:light-dark(#56606b,#a7b0ba);--grid:light-dark(#dfe3e8,#343b44);--paper:light-dark(#fff,#14181d);--soft:light-dark(#f4f6f8,#1d232a);--line:light-dark(#8a939d,#77818c);--with:light-dark(#0072b2,#56b4e9);--against:light-dark(#b34700,#f0a35e);--fill:light-dark(#a9d3ee,#1f5f86);--clamp:light-dark(#6a3d9a,#cdb2ec);--on:light-dark(#fff,#14181d);--warn:light-dark(#fff1d6,#3a2f14);--g0:light-dark(#009e73,#2fc79b);--g1:light-dark(#cc3f8f,#f08cc4);--g2:light-dark(#b8a800,#e5da4a);--g3:light-dark(#7d5a3c,#c9a27e)}*{box-sizing:border-box}body{background:var(--paper);color:var(--ink);margin:0;font:15px/1.45 system-ui,Segoe UI,Roboto,Helvetica Neue,Arial,sans-serif}header{border-bottom:1px solid var(--grid);flex-wrap:wrap;align-items:center;gap:.4rem 1.2rem;padding:.7rem 1.2rem;display:flex}h1{letter-spacing:-.01em;margin:0;font-size:1.15rem}.about,.hint,.legend{color:var(--muted);font-size:.9rem}.columns{grid-template-columns:minmax(16rem,21rem) minmax(0,1fr);display:grid}aside{border-right:1px solid var(--grid);max-height:calc(100vh - 3.4rem);padding:.9rem 1.1rem 2rem;position:sticky;top:0;overflow-y:auto}main{min-width:0;padding:.9rem 1.2rem 3rem}button,input,select{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.4rem;padding:.25rem .55rem}button{cursor:pointer}button:hover{background:var(--soft)}button.main{background:var(--with);border-color:var(--with);color:var(--on);font-weight:600}button.small{color:var(--muted);border-color:var(--grid);padding:0 .45rem;font-size:.8rem;font-weight:400}:focus-visible{outline:3px solid var(--with);outline-offset:1px}input[type=number]{width:5.5rem}.search{color:var(--muted);font-size:.9rem;display:block}.search input{width:100%;color:var(--ink);margin-top:.15rem;display:block}.given{margin:.7rem 0;font-size:.9rem}.given p{color:var(--muted);margin:.4rem 0}.chip{background:var(--clamp);border-color:var(--clamp);color:var(--on);border-radius:1rem;margin:0 .3rem .3rem 0;font-size:.86rem;font-weight:600}.chip:hover{background:var(--clamp);opacity:.85}.variables{margin:0;padding:0;list-style:none}.variables li{border-top:1px solid var(--grid);padding:.35rem 0 .5rem}.name{overflow-wrap:anywhere;justify-content:space-between;align-items:baseline;font-size:.92rem;font-weight:600;display:flex}.levels{gap:3px;margin-top:3px;display:grid}.level{border-color:var(--grid);text-align:left;border-radius:.3rem;justify-content:space-between;padding:.08rem .5rem;font-size:.86rem;display:flex;position:relative;overflow:hidden}.level .fill,.bar .fill{background:var(--fill);transition:width .25s ease-out;position:absolute;inset:0 auto 0 0}.level .was{background:var(--ink);opacity:.45;width:2px;margin-left:-1px;position:absolute;top:0;bottom:0}.level .text,.level .number{font-variant-numeric:tabular-nums;position:relative}.level[aria-pressed=true]{border-color:var(--clamp);box-shadow:inset 0 0 0 2px var(--clamp);font-weight:700}.bar{background:var(--soft);border-radius:2px;min-width:5rem;height:.65rem;margin:1px 0;display:block;position:relative;overflow:hidden}.bar .fill{background:var(--with);opacity:.85}@media (prefers-reduced-motion:reduce){*{transition:none!important}}.ask form{align-items:center;gap:.6rem;display:flex}.ask label{font-weight:600}.combo{flex:1;position:relative}.combo input{width:100%;padding:.45rem .7rem;font-family:ui-monospace,Menlo,Consolas,monospace}.combo ul{z-index:5;background:var(--paper);border:1px solid var(--line);border-radius:.4rem;margin:2px 0 0;padding:.2rem 0;list-style:none;position:absolute;left:0;right:0;box-shadow:0 6px 18px #0003}.combo li{cursor:pointer;padding:.2rem .7rem}.combo li[aria-selected=true],.combo li:hover{background:var(--with);color:var(--on)}.ask [aria-live]{max-height:17rem;overflow-y:auto}.asked{margin:.6rem 0}nav{border-bottom:1px solid var(--grid);flex-wrap:wrap;gap:.3rem;margin:.9rem 0 .7rem;display:flex}nav button{border:0;border-bottom:3px solid #0000;border-radius:.3rem .3rem 0 0;padding:.35rem .65rem}nav button[aria-current]{border-bottom-color:var(--with);font-weight:600}.row{flex-wrap:wrap;align-items:center;gap:.4rem 1rem;display:flex}.legend{flex-wrap:wrap;gap:.1rem 1.1rem;margin:.4rem 0;padding:0;font-size:.86rem;list-style:none;display:flex}.legend svg,.legend i{vertical-align:middle;margin-right:.3rem}.legend i{border-radius:.4rem;width:1.1rem;height:.8rem;display:inline-block}.legend i.group{opacity:.45}.legend i.shade0{background:var(--g0)}.legend i.shade1{background:var(--g1)}.legend i.shade2{background:var(--g2)}.legend i.shade3{background:var(--g3)}.legend i.level{background:var(--fill);border:1px solid var(--line)}.legend i.clamped{border:3px solid var(--clamp)}.graph{touch-action:pan-x pan-y;cursor:grab;-webkit-user-select:none;user-select:none;width:100%;display:block}:is(.graph,.graph-key) line.with{stroke:var(--with)}:is(.graph,.graph-key) line.against{stroke:var(--against);stroke-dasharray:7 5}:is(.graph,.graph-key) line.neither,.graph-key line.width{stroke:var(--line)}.shade{opacity:.17}.shade0 polygon{fill:var(--g0);stroke:var(--g0)}.shade1 polygon{fill:var(--g1);stroke:var(--g1)}.shade2 polygon{fill:var(--g2);stroke:var(--g2)}.shade3 polygon{fill:var(--g3);stroke:var(--g3)}.node{cursor:pointer;outline:none}.node .body{fill:var(--paper)}.node .level{fill:var(--fill);transition:width .3s ease-out}.node .line{fill:none;stroke:var(--line)}.node text{fill:var(--ink);font-size:14px}.node .told{fill:var(--muted);paint-order:stroke;stroke:var(--paper);stroke-width:3px;font-size:11px}.node.clamped .line{stroke:var(--clamp);stroke-width:3.5px}.node.clamped .told{fill:var(--clamp);font-weight:700}.node.focus text:first-of-type{font-weight:700}.node:focus-visible .line,.node:hover .line{stroke:var(--with);stroke-width:3px}.scroll{max-height:70vh;overflow:auto}table{border-collapse:collapse;margin:.5rem 0;font-size:.92rem}th,td{text-align:left;border-bottom:1px solid var(--grid);vertical-align:baseline;padding:.25rem 1rem .25rem 0}thead th{color:var(--muted);background:var(--paper);font-size:.85rem;position:sticky;top:0}th.clamped{color:var(--clamp)}:is(th,td).n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}th.n{white-space:normal}td.wide{min-width:9rem}.scroll.whole{max-height:none;overflow:visible}.interactions{width:100%}.interactions>tbody>tr>td:first-child{min-width:12rem}.interactions .graph-key{vertical-align:middle}.interactions td.wide{width:9rem;min-width:3rem}.interactions .bar{min-width:3rem}.wrong{color:var(--against);white-space:pre-wrap;margin:.3rem 0;font-size:.9rem}.banner{background:var(--warn);border-bottom:1px solid var(--g2);white-space:pre-wrap;margin:0;padding:.6rem 1.2rem}.api details{border-top:1px solid var(--grid);padding:.4rem 0}.api pre{background:var(--soft);border-radius:.4rem;padding:.6rem;font-size:.82rem;overflow-x:auto}a{color:var(--with)}@media (width<=50rem){.columns{flex-direction:column-reverse;display:flex}aside{border-right:0;border-top:1px solid var(--grid);max-height:none;position:static}main{padding:.7rem .8rem 1rem}.interactions,.interactions>tbody{display:block}.interactions>thead{display:none}.interactions>tbody>tr{border-bottom:1px solid var(--grid);flex-wrap:wrap;gap:0 1.2rem;padding:.35rem 0;display:flex}.interactions>tbody>tr>td{border:0;padding:.1rem 0}.interactions>tbody>tr>td:first-child{flex:1 0 100%}.interactions>tbody>tr.detail>td{padding:.3rem .6rem .8rem}:is(th,td).wide{display:none}.interactions td[data-label]:before{content:attr(data-label) \" \";color:var(--muted)}}@media (width<=70rem){.interactions :is(th,td).wide{display:none}}.steps{gap:.3rem;margin-left:auto;display:inline-flex}button:disabled{opacity:.45;cursor:default}h3{margin:.9rem 0 .2rem;font-size:.95rem}.unseen{clip-path:inset(50%);white-space:nowrap;width:1px;height:1px;position:absolute;overflow:hidden}.filters{margin:.4rem 0;font-size:.9rem}.filters label{color:var(--muted)}.filters input{width:11rem;color:var(--ink)}details.hint summary{cursor:pointer}th.n:has(button.sort){white-space:nowrap}th button.sort{white-space:nowrap;font:inherit;color:inherit;text-align:inherit;background:0 0;border:0;padding:0}th button.sort:after{content:\" ↕\";opacity:.45}th[aria-sort=descending] button.sort:after{content:\" ↓\";opacity:1}th[aria-sort=ascending] button.sort:after{content:\" ↑\";opacity:1}button.words{text-align:left;background:0 0;border:0;padding:.1rem 0}button.words:hover,button.link:hover{background:0 0;text-decoration:underline}button.link{color:var(--with);text-align:left;background:0 0;border:0;padding:0}tr.opened td{border-bottom:0}tr.opened button.words{font-weight:600}.detail>td{background:var(--soft);padding:.3rem 1rem .8rem}.apart{background:var(--soft);border-radius:.4rem;padding:.6rem 1rem .8rem}.effect{max-width:52rem}.effect h3:first-child{margin-top:.3rem}.effect p{margin:.3rem 0}.shares{width:100%}.shares th,.shares td{background:0 0;border:0;padding:.12rem .7rem .12rem 0;position:static}.shares .first th,.shares .first td{padding-top:.3rem}.shares td.track{width:45%;min-width:7rem}.lane{background:linear-gradient(var(--grid), var(--grid)) center / 100% 1px no-repeat;height:1rem;display:block;position:relative}.lane .fill{background:var(--fill);border-right:2px solid var(--with);position:absolute;inset:1px auto 1px 0}.lane .range{background:var(--ink);height:2px;margin-top:-1px;position:absolute;top:50%}.lane .dot{background:var(--ink);border-radius:50%;width:8px;height:8px;margin:-4px;position:absolute;top:50%}.legend i.model{background:var(--fill);border-right:2px solid var(--with);border-radius:0}.legend i.rows{background:var(--ink);border-radius:50%;width:8px;height:8px}.ratio{flex-wrap:wrap;align-items:center;gap:.8rem;font-size:.92rem;display:flex}.ratio>svg,.ratio.scale>span{width:min(26rem,100%)}.ratio.scale>span{color:var(--muted);justify-content:space-between;font-size:.8rem;display:flex}.ratio .axis{stroke:var(--grid)}.ratio .one{stroke:var(--line)}.ratio .range{stroke:var(--ink);stroke-width:2px}.ratio circle.with{fill:var(--with)}.ratio circle.against{fill:var(--against)}.others{margin:.2rem 0;padding-left:1.1rem}.find{flex-wrap:nowrap;align-items:end}.find .search:first-child{flex:1}.find select{max-width:9.5rem;color:var(--ink);margin-top:.15rem;display:block}.name{gap:.5rem}.name .moved{color:var(--muted);white-space:nowrap;margin-left:auto;font-size:.8rem;font-weight:400}.choice{gap:3px;display:flex}.choice .level{flex:1;min-width:0}.choice.out .text{text-decoration:line-through}.not{border-color:var(--grid);color:var(--muted);padding:0 .35rem;font-size:.8rem}.not[aria-pressed=true]{background:var(--against);border-color:var(--against);color:var(--on)}div.range{color:var(--muted);gap:.6rem;margin-top:3px;font-size:.84rem;display:flex}.range select{color:var(--ink);max-width:8rem;padding:0 .2rem}.asked{border-bottom:1px solid var(--grid);padding-bottom:.3rem}.asked .dismiss{float:right}.asked summary{cursor:pointer;overflow-wrap:anywhere}", gc = ".widget{background:var(--paper);color:var(--ink);border:1px solid var(--grid);border-radius:.5rem;font:14px/1.45 system-ui,Segoe UI,Roboto,Helvetica Neue,Arial,sans-serif;container-type:inline-size}.widget header{padding:.5rem .9rem}.widget .columns{grid-template-columns:minmax(14rem,18rem) minmax(0,1fr);display:grid}.widget aside{border:0;border-right:1px solid var(--grid);max-height:38rem;padding:.6rem .9rem 1rem;position:static;overflow-y:auto}.widget main{padding:.6rem .9rem 1rem}@container (width<=40rem){.widget .columns{flex-direction:column-reverse;display:flex}.widget aside{border-right:0;border-top:1px solid var(--grid);max-height:24rem}}", _c = ({ text: e }) => e ? /* @__PURE__ */ P("pre", {
	class: "wrong",
	role: "alert",
	children: e
}) : null, vc = (e) => e instanceof Error ? e.message : String(e);
function yc(e, t) {
	let n = e.listen(() => {
		JSON.stringify(t.get("given")) !== JSON.stringify(e.page.given) && (t.set("given", e.page.given), t.save_changes());
	}), r = () => e.change({ given: t.get("given") });
	return t.on("change:given", r), () => {
		n(), t.off("change:given", r);
	};
}
function bc({ ask: e, store: t }) {
	let { given: n, view: r } = tt(t), [i, a] = we(null), [o, s] = we("");
	if (Ee(() => {
		e.models().then(([e]) => a(e)).catch((e) => s(vc(e)));
	}, []), !i) return /* @__PURE__ */ P(_c, { text: o });
	let c = {
		ask: e,
		model: i.name,
		given: n,
		version: i.version,
		seen: () => void 0,
		failed: vc,
		look: (e) => t.change({ view: { focus: e ?? "" } }),
		change: (e) => t.change({ given: e })
	};
	return /* @__PURE__ */ P(y, { children: [/* @__PURE__ */ P("header", { children: [
		/* @__PURE__ */ P("b", { children: "Fullspan" }),
		/* @__PURE__ */ P(fc, { model: i }),
		/* @__PURE__ */ P(pc, { store: t })
	] }), /* @__PURE__ */ P("div", {
		class: "columns",
		children: [/* @__PURE__ */ P("aside", {
			"aria-label": "Variables",
			children: /* @__PURE__ */ P(rt, { ...c })
		}), /* @__PURE__ */ P("main", { children: /* @__PURE__ */ P(uc, {
			...c,
			focus: r.focus ?? null
		}) })]
	})] });
}
function xc(e) {
	let [t, n, r] = getComputedStyle(e).color.match(/\d+(\.\d+)?/g)?.map(Number) ?? [
		0,
		0,
		0
	];
	return .3 * t + .6 * n + .1 * r > 127;
}
function Sc({ model: e, el: t }) {
	let n = document.createElement("div");
	t.append(n), n.style.colorScheme = xc(t) ? "dark" : "light";
	let r = n.attachShadow({ mode: "open" }), i = document.createElement("style"), a = document.createElement("div");
	i.textContent = hc + gc, a.className = "widget", r.append(i, a);
	let { transport: o, close: s } = mc(e), c = new et({ given: e.get("given") }), l = yc(c, e);
	return A(/* @__PURE__ */ P(bc, {
		ask: Re(o),
		store: c
	}), a), () => {
		A(null, a), l(), s(), n.remove();
	};
}
var Cc = { render: Sc };
export { Cc as default };
