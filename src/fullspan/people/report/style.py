"""How a report looks: light and dark screens, telephones, and paper."""

from __future__ import annotations

from fullspan.pictures.legend import DARK, LIGHT, css_variables

CSS = (
    f":root{{color-scheme:light dark;{css_variables(LIGHT)};--soft:#f4f6f8;--warn:#fff6e5;--warnline:#e69f00}}"
    f"@media (prefers-color-scheme:dark){{:root{{{css_variables(DARK)};--soft:#1c2229;--warn:#2b2415;"
    "--warnline:#b98413}}"
    """
*{box-sizing:border-box;-webkit-print-color-adjust:exact;print-color-adjust:exact}
body{margin:0 auto;max-width:68rem;padding:2.5rem 1.25rem 4rem;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header{border-bottom:1px solid var(--grid);padding-bottom:1.2rem;margin-bottom:1.4rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 .6rem;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.6rem 0 .5rem;letter-spacing:-.005em}
h3{font-size:1.05rem;margin:0 0 .2rem;overflow-wrap:anywhere}
p{margin:.5rem 0;max-width:46rem;overflow-wrap:break-word}
.lead{font-size:1.08rem;max-width:52rem;margin:0 0 1rem}
.exact{color:var(--muted);font-size:.92rem;max-width:60rem}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;font-size:.92rem}
a{color:var(--with)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.2rem,1fr));gap:.8rem;margin:1.2rem 0 0;padding:0}
.facts div{background:var(--soft);border-radius:.6rem;padding:.6rem .9rem}
.facts dt{color:var(--muted);font-size:.82rem}
.facts dd{margin:0;font-size:1.2rem;font-weight:600;font-variant-numeric:tabular-nums}
.caveats{background:var(--warn);border-left:4px solid var(--warnline);border-radius:.3rem;padding:.7rem 1.1rem;
margin:1.2rem 0}
.caveats ul{margin:.2rem 0;padding-left:1.1rem}
.caveats li{margin:.35rem 0;max-width:56rem;overflow-wrap:break-word}
.notes{color:var(--muted);font-size:.92rem}
figure{margin:1rem 0;overflow-x:auto}
figcaption{color:var(--muted);font-size:.92rem;max-width:46rem;margin-top:.3rem}
.narrow{display:none}.over text{paint-order:stroke;stroke:var(--paper);stroke-width:4px}
svg{width:100%;height:auto;display:block;font-family:inherit}
.card{border:1px solid var(--grid);border-radius:.6rem;padding:.9rem 1.1rem 1rem;margin:.9rem 0}
.card p{margin:.1rem 0 .6rem;max-width:56rem}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;color:var(--muted);font-size:.88rem;margin:.6rem 0}
.key i{display:inline-block;position:relative;width:2.1rem;height:.8rem;vertical-align:-.1rem;margin-right:.4rem}
.key .model{background:var(--neutral);opacity:.55;border-radius:2px}
.key .data:before{content:"";position:absolute;left:0;right:0;top:.34rem;height:2px;background:var(--ink)}
.key .data:after{content:"";position:absolute;left:.73rem;top:.08rem;width:.64rem;height:.64rem;border-radius:50%;
background:var(--ink)}
table.shares td,table.shares th{text-align:left;vertical-align:middle;border-bottom:0;padding:.22rem .6rem .22rem 0}
table.shares thead th{white-space:normal;vertical-align:bottom;overflow-wrap:anywhere}
table.shares tbody th{color:var(--ink);font-weight:400;width:26%}
table.shares{table-layout:fixed}table.shares thead th:first-child{width:26%}
caption{text-align:left;color:var(--muted);font-size:.88rem;padding-bottom:.3rem}
.track{display:block;position:relative;height:1rem;background:var(--soft);border-radius:3px}
.track i{position:absolute}
.track .model{left:0;top:0;bottom:0;background:var(--bar);opacity:.55;border-radius:3px}
.track .range{top:calc(50% - 1px);height:2px;min-width:2px;background:var(--ink)}
.track .dot{top:calc(50% - .3rem);width:.6rem;height:.6rem;margin-left:-.3rem;border-radius:50%;background:var(--ink);
border:1px solid var(--paper)}
.said{color:var(--muted);font-size:.8rem;white-space:normal;line-height:1.3;display:block}
.table{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem;font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--muted);font-size:.85rem;text-align:right;white-space:nowrap;vertical-align:bottom}
td{text-align:right;white-space:nowrap;vertical-align:baseline}
th,td{padding:.34rem 0 .34rem 1rem;border-bottom:1px solid var(--grid)}
th.t,td.t{text-align:left;white-space:normal;padding-left:0;overflow-wrap:break-word}
td.t{min-width:9rem}
td.w{min-width:8rem;text-align:left}
.bar{display:block;height:.62rem;border-radius:2px;background:var(--neutral);opacity:.85;min-width:1px}
.levels{display:flex;height:.62rem;border-radius:3px;overflow:hidden;min-width:12rem;background:var(--grid);
margin-bottom:.15rem}
.levels span{border-right:1px solid var(--paper)}
.levels span:nth-child(6n+1){background:#00735a}.levels span:nth-child(6n+2){background:#8a4a73}
.levels span:nth-child(6n+3){background:#51606e}.levels span:nth-child(6n+4){background:#6b6200}
.levels span:nth-child(6n+5){background:#1f5fa8}.levels span:nth-child(6n+6){background:#a3401c}
.levels.ordered span{background:var(--with)}
td.w.named{white-space:normal;overflow-wrap:anywhere}
.pair{display:grid;grid-template-columns:minmax(18rem,26rem) 1fr;gap:1.5rem;align-items:start}
summary{cursor:pointer;color:var(--with);margin:.6rem 0}
.unfolded{display:none}
tr.best td{font-weight:600}
footer{margin-top:3rem;border-top:1px solid var(--grid);padding-top:1rem;color:var(--muted);font-size:.88rem}
footer p{max-width:none}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em;overflow-wrap:anywhere}
@media screen and (max-width:50rem){
.pair{grid-template-columns:1fr}body{padding-top:1.2rem}h1{font-size:1.6rem}
}
@media screen and (max-width:40rem){
body{padding-left:.9rem;padding-right:.9rem}
.wide{display:none}.narrow{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{display:grid;grid-template-columns:repeat(auto-fit,minmax(6.2rem,1fr));gap:.1rem .8rem;padding:.5rem 0;
border-bottom:1px solid var(--grid)}
td,th,table.shares td,table.shares tbody th{padding:0;border:0;text-align:left;white-space:normal}
td.t,td.w,table.shares tbody th{grid-column:1/-1;width:auto}
td:empty{display:none}
td[data-h]:before{content:attr(data-h);display:block;color:var(--muted);font-size:.78rem}
table.shares tr{border-bottom:0;grid-template-columns:1fr}
table.shares caption{display:block}
.levels{min-width:0}.card{padding:.8rem}
}
"""
    f"@media print{{:root{{color-scheme:light;{css_variables(LIGHT)};--soft:#f4f6f8;--warn:#fff;--warnline:#999}}"
    "@page{margin:14mm}body{font-size:10pt;max-width:none;padding:0}p,figure,tr,.card,.caveats,.facts div{break-inside:"
    "avoid}h2,h3,caption,thead,.key,.notes{break-after:avoid}h2{margin-top:1.6rem}figure svg{max-height:8cm}"
    ".tall svg{max-height:14cm}figure,.table{overflow:visible}table{font-size:8.5pt}"
    "th{font-size:8pt;white-space:normal}th,td{padding:.2rem 0 .2rem .5rem}td.w{min-width:5.5rem}td.t{width:50%}"
    ".pair{grid-template-columns:1fr 1fr}nav,details{display:none}.unfolded{display:block}"
    "a{color:inherit;text-decoration:none}}"
)
