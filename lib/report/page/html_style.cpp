#include "report/page/html_sections.hpp"

namespace ranklab::report::page {

// The system's own fonts; one column of text as wide as it reads well, figures two in a row where there is
// room.
// --s1 ... are kColours, lighter on dark.
std::string page_style() {
    return R"(:root {
  color-scheme: light dark;
  --bg: #ffffff; --fg: #1b1f24; --soft: #59636e; --line: #d8dee4; --panel: #f6f8fa; --link: #0a58ca;
  --good: #1a7f37; --bad: #b42318; --warn-bg: #fff8e6; --warn-line: #d9a400;
  --s1: #0072b2; --s2: #d55e00; --s3: #009e73; --s4: #cc79a7; --s5: #e69f00; --s6: #56b4e9; --s7: #777777;
}
@media (prefers-color-scheme: dark) { :root {
  --bg: #14171b; --fg: #e3e7ec; --soft: #9aa4af; --line: #343b44; --panel: #1c2127; --link: #7cb7ff;
  --good: #56d27a; --bad: #ff8f85; --warn-bg: #2a2413; --warn-line: #b58a14;
  --s1: #4aa3dc; --s2: #f0853a; --s3: #2fc79a; --s4: #e39cc4; --s5: #f0b93a; --s6: #8fd0f5; --s7: #a0a0a0;
} }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 1240px; padding: 1.5rem clamp(.9rem, 3vw, 2.5rem) 4rem; background: var(--bg);
  color: var(--fg); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans",
  sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
h1 { font-size: clamp(1.5rem, 4vw, 2.1rem); line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; margin: 3rem 0 .8rem; padding-bottom: .35rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }
h4 { font-size: 1rem; margin: 0 0 .6rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 75ch; }
.brand { color: var(--soft); font-size: .8rem; letter-spacing: .08em; text-transform: uppercase; margin: 0 0 .2rem; }
.lead { color: var(--soft); max-width: none; } .lead strong { color: var(--fg); }
.unit { color: var(--soft); font-weight: 400; font-size: .86em; }
.none { color: var(--soft); } .more { color: var(--soft); font-style: italic; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.warn { background: var(--warn-bg); border-left: 4px solid var(--warn-line); border-radius: 4px; margin: 1.2rem 0;
  padding: .8rem 1.1rem; }
.warn h2 { border: 0; margin: 0 0 .3rem; padding: 0; font-size: 1.05rem; }
.notices { margin: 0; padding-left: 1.1rem; } .notices li { margin: .25rem 0; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; list-style: none; margin: 1.2rem 0 0; padding: .7rem 0 0;
  border-top: 1px solid var(--line); font-size: .93rem; }
.scroll { overflow-x: auto; max-width: 100%; overscroll-behavior-x: contain; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; margin: .4rem 0; }
th, td { padding: .34rem .7rem; text-align: right; vertical-align: top; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; } thead th { vertical-align: bottom; color: var(--soft); font-weight: 500; }
th:first-child, td.text, th.text { text-align: left; }
tbody th { font-weight: 500; white-space: normal; min-width: 11rem; max-width: 26rem; overflow-wrap: break-word; }
tbody tr:hover { background: var(--panel); }
td.long { white-space: normal; min-width: 13rem; overflow-wrap: anywhere; }
.facts th { color: var(--soft); vertical-align: top; min-width: 8rem; }
.facts td { white-space: normal; overflow-wrap: anywhere; min-width: 12rem; }
.summary .ci { display: block; margin: 0; }
.ci { color: var(--soft); white-space: nowrap; font-size: .88em; margin-left: .2em; }
code { font: .88em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.facts code { background: var(--panel); border-radius: 3px; padding: .05em .3em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: 1.1rem; align-items: start; }
.figures:has(.broad) { grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
figure { margin: 0; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--bg); min-width: 0; }
@media (min-width: 900px) {  /* a picture alone in its row has its words beside it */
  .single figure { display: grid; grid-template-columns: minmax(0, 600px) minmax(0, 1fr); grid-template-rows: auto auto 1fr auto;
    column-gap: 2rem; }
  .single h4, .single details { grid-column: 1 / -1; } .single .plot, .single .missing { grid-row: 2 / 4; }
  .single figure:not(.broad) svg { max-width: 500px; }
  .single .legend, .single figcaption { grid-column: 2; }
}
figure.wide { margin-bottom: 1.2rem; }
.plot svg { display: block; width: 100%; max-width: 600px; height: auto; color: var(--fg); font-family: inherit; }
figcaption { color: var(--soft); font-size: .86rem; line-height: 1.45; margin-top: .6rem; }
.legend { display: flex; flex-wrap: wrap; gap: .15rem 1rem; list-style: none; margin: .5rem 0 0; padding: 0; font-size: .86rem; }
.s1 { color: var(--s1); } .s2 { color: var(--s2); } .s3 { color: var(--s3); } .s4 { color: var(--s4); }
.s5 { color: var(--s5); } .s6 { color: var(--s6); } .s7 { color: var(--s7); }
details { margin: .6rem 0 0; } summary { cursor: pointer; color: var(--link); font-size: .88rem; }
details.run { border: 1px solid var(--line); border-radius: 8px; padding: .6rem .9rem; margin: .6rem 0; }
details.run > summary { color: var(--fg); font-size: .95rem; font-weight: 500; }
.missing { border: 1px dashed var(--line); border-radius: 6px; padding: 1.4rem; color: var(--soft); }
.lo { background: color-mix(in srgb, var(--s1) calc(var(--h, 1) * 55%), transparent); }
.hi { background: color-mix(in srgb, var(--s5) calc(var(--h, 1) * 55%), transparent); }
.key { padding: .05em .4em; border-radius: 3px; color: var(--fg); }
.strip td { min-width: 14px; height: 22px; padding: 0; border: 1px solid var(--bg); }
dl { max-width: 85ch; } dt { margin-top: .9rem; font-weight: 500; } dd { margin: .1rem 0 0; color: var(--soft); }
dt:target, details:target, figure:target { background: var(--warn-bg); }
@media (max-width: 560px) {
  body { font-size: 15px; } figure { padding: .7rem; } th, td { padding: .3rem .5rem; }
  tbody th { min-width: 8.5rem; }
}
@media print {
  body { max-width: none; font-size: 10pt; padding: 0; } nav, summary { display: none; }
  figure, tr { break-inside: avoid; } h2, h3, h4 { break-after: avoid; } .figures { display: block; } figure { margin-bottom: 1rem; }
}
)";
}

}  // namespace ranklab::report::page
