/** The one style of an evidence page: quiet on a screen, light or dark, and black on white on paper. */
export const STYLE = `:root{color-scheme:light dark;--ink:#1a2027;--soft:#4d5864;--line:#d5dbe1;--ground:#fff;--band:#f4f6f8;--good:#0a6640;--good-soft:#e6f4ec;--bad:#a3161b;--bad-soft:#fbeaea;--open:#4d5864;--open-soft:#eef1f4}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf0;--soft:#a9b4bf;--line:#39434d;--ground:#14181c;--band:#1c2228;--good:#7ddba8;--good-soft:#12301f;--bad:#ffa3a3;--bad-soft:#3b1718;--open:#a9b4bf;--open-soft:#222930}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:2.5rem 1.5rem 4rem;background:var(--ground);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
header{border-bottom:2px solid var(--ink);padding-bottom:1rem;margin-bottom:1.5rem}
.brand{margin:0;color:var(--soft);font-size:.8rem;letter-spacing:.08em;text-transform:uppercase}
h1{margin:.25rem 0;font-size:1.8rem;line-height:1.2;overflow-wrap:anywhere}
h2{margin:2.75rem 0 .25rem;font-size:1.3rem;line-height:1.3}
.lead{margin:.25rem 0 1rem;color:var(--soft);max-width:48rem}
ul.verdicts{list-style:none;margin:0 0 1.25rem;padding:0;display:grid;gap:.4rem}
.verdict{display:inline-flex;gap:.5rem;padding:.3rem .7rem;border-radius:.35rem;font-weight:600}
.verdict .sign{flex:none}
.verdict.good{color:var(--good);background:var(--good-soft)}
.verdict.bad{color:var(--bad);background:var(--bad-soft)}
.verdict.open{color:var(--open);background:var(--open-soft)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(26rem,1fr));gap:0 2.5rem;margin:0 0 1.25rem}
dl div{display:grid;grid-template-columns:11rem minmax(0,1fr);gap:1rem;padding:.35rem 0;border-bottom:1px solid var(--line)}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
nav{border:1px solid var(--line);border-radius:.4rem;padding:.6rem 1rem;margin-top:1.5rem}
nav ol{margin:0;padding-left:1.25rem;columns:16rem}
a{color:inherit}a:focus-visible,.table:focus-visible{outline:3px solid #3b82f6;outline-offset:2px}
.table{overflow-x:auto;margin:1.25rem 0}
table{width:100%;border-collapse:collapse;font-size:.87rem;line-height:1.4}
caption{text-align:left;font-weight:600;font-size:.95rem;padding:0 0 .4rem}
th{text-align:left;font-weight:600;color:var(--soft);border-bottom:1.5px solid var(--ink);padding:.3rem .8rem .3rem 0;vertical-align:bottom;white-space:nowrap}
td{border-bottom:1px solid var(--line);padding:.35rem .8rem .35rem 0;vertical-align:top;overflow-wrap:break-word}
td.code{overflow-wrap:anywhere;min-width:6.5rem}
th:last-child,td:last-child{padding-right:0}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.short{white-space:nowrap;font-variant-numeric:tabular-nums}
code{font:.87em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.empty{color:var(--soft)}
ul{padding-left:1.25rem}
@media (max-width:40rem){body{padding:1.25rem 1rem 2rem}dl div{grid-template-columns:minmax(0,1fr);gap:0}dl{grid-template-columns:minmax(0,1fr)}h1{font-size:1.4rem}}
@page{margin:16mm 14mm}
@media print{:root{--ink:#000;--soft:#444;--line:#bbb;--ground:#fff;--good:#000;--good-soft:#fff;--bad:#000;--bad-soft:#fff;--open:#000;--open-soft:#fff}
body{max-width:none;padding:0;font-size:10pt}.verdict{border:1px solid #000;padding:.1rem .5rem}nav{display:none}
h2{break-after:avoid;margin-top:1.5rem}.table{overflow:visible}thead{display:table-header-group}tr,dl div,.verdict{break-inside:avoid}caption{break-after:avoid}table{font-size:8pt}td,td.code{min-width:0;overflow-wrap:anywhere}th{white-space:normal}th,td{padding-right:.5rem}a{text-decoration:none}}`;
