/** Style of the page, with the light or dark colours of the reader's system. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f6f7f9; --line: #c9ced6; --text: #1b1f24; --quiet: #545c67;
  --good: #12692f; --some: #7a4d00; --bad: #a3121c; --link: #0a54b8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --panel: #1e2329; --line: #3a424c; --text: #e7eaee; --quiet: #a5aeb9;
    --good: #6fd28c; --some: #f0b955; --bad: #ff8f87; --link: #86b7ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.25rem; margin-top: 2rem; } h3 { font-size: 1.05rem; margin: 1.75rem 0 0; }
h2.good { color: var(--good); } h2.some { color: var(--some); } h2.bad { color: var(--bad); }
a { color: var(--link); }
.sub { color: var(--quiet); margin: 0.15rem 0 0.6rem; font-size: 0.9rem; }
.count { font-weight: 400; color: var(--quiet); }
.dangers strong { color: var(--bad); }
details { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); margin: 0.5rem 0; padding: 0 0.9rem; }
details[open] { padding-bottom: 0.6rem; }
summary { cursor: pointer; padding: 0.55rem 0; overflow-wrap: anywhere; }
summary:focus-visible, pre:focus-visible, .wide:focus-visible, a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.tag { border: 1px solid currentColor; border-radius: 999px; padding: 0 0.55rem; font-size: 0.8rem; white-space: nowrap; color: var(--quiet); }
.tag.bad { color: var(--bad); font-weight: 600; }
code, pre { font: 0.875rem/1.45 ui-monospace, monospace; }
pre { margin: 0.25rem 0 0; padding: 0.5rem 0.7rem; overflow-x: auto; background: var(--page); border: 1px solid var(--line); border-radius: 4px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem 0.3rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
thead th { border-top: 0; color: var(--quiet); font-weight: 500; }
tbody th { font-weight: 400; }
em { color: var(--bad); font-size: 0.85rem; }
dl { margin: 0.6rem 0 0; } dt { color: var(--quiet); font-size: 0.9rem; margin-top: 0.5rem; } dd { margin: 0; } dd p { margin: 0; overflow-wrap: anywhere; }
@media print { details { break-inside: avoid; } }
`;
