import { titleOf } from "../../../provider/run/urn";
import { formatCount, formatNumber } from "../../terminal/output";
import type { Finding, Fix, Report, StackReport, Unmanaged } from "../finding";
import { style } from "./html-style";
import { notesOf } from "./notes";
import {
  comparedText,
  comparisonsOf,
  dangerCounts,
  isDangerous,
  locationText,
  orphanDetails,
  summaryLine,
  unobservableOf,
  valueText,
  withoutControls,
} from "./wording";

/** Renders a report as one self-contained page without scripts. */
export function renderHtml(report: Report): string {
  const { verdict, stacks } = report;
  const title = verdict === "clean" ? "No drift seen, no pending changes" : "Drift and pending changes";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>${escaped(`${title}: ${stacks.map(({ stack }) => stack).join(", ")}`)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p class="sub">${escaped(comparedText(report))}</p>
${stacks.length > 1 ? contents(stacks) : ""}${stacks.map(section).join("\n")}
</main>
</body>
</html>
`;
}

function contents(stacks: readonly StackReport[]): string {
  const links = stacks.map((report, at) => `<li><a href="#s${at}">${escaped(summaryLine(report))}</a></li>`);
  return `<nav aria-label="Stacks"><ul>${links.join("")}</ul></nav>\n`;
}

function section(report: StackReport, at: number): string {
  const dangers = dangerCounts(report);
  const state = dangers
    ? "bad"
    : report.drift.length + report.changes.length + report.expired.length > 0
      ? "some"
      : "good";
  const parts = comparisonsOf(report).map(({ title, subtitle, findings, none, apply, accept }) => {
    const body = findings.map((finding) => card(finding, apply, accept)).join("\n");
    const all = findings === report.drift && findings.length > 1 ? atOnce(report) : "";
    return `${heading(title, findings.length, subtitle)}${body || `<p>${none}</p>`}${all}`;
  });
  return `<section id="s${at}" aria-labelledby="h${at}">
<h2 id="h${at}" class="${state}">${escaped(summaryLine(report))}</h2>
<p class="sub">Project ${escaped(report.project)}</p>
${dangers ? `<p class="dangers"><strong>Dangerous:</strong> ${escaped(dangers)}</p>` : ""}
${parts.join("\n")}
${unmanaged(report)}
${orphans(report)}
${notes(report)}
${unobservable(report)}
${warnings(report)}
</section>`;
}

function heading(title: string, count: number, subtitle?: string): string {
  const note = subtitle === undefined ? "" : `<p class="sub">${subtitle}</p>`;
  return `<h3>${title} <span class="count">${formatNumber(count)}</span></h3>${note}`;
}

function card(finding: Finding, apply: string, accept: string): string {
  const { resource, kind, effect, consequence, properties, fixes } = finding;
  const place = locationText(finding);
  const bad = isDangerous(finding);
  const rows = properties.map(
    ({ path, declared, actual, replaces, accepted }) =>
      `<tr><th scope="row"><code>${escaped(path)}</code>${replaces ? " <em>replaces</em>" : ""}` +
      `${accepted ? " (accepted)" : ""}</th>` +
      `<td><code>${escaped(valueText(declared, 2000))}</code></td>` +
      `<td><code>${escaped(valueText(actual, 2000))}</code></td></tr>`,
  );
  const table =
    rows.length === 0
      ? ""
      : `<div class="wide" tabindex="0" role="region" aria-label="Properties of ${escaped(titleOf(resource))}"><table>
<thead><tr><th scope="col">property</th><th scope="col">declared</th><th scope="col">actual</th></tr></thead>
<tbody>${rows.join("")}</tbody></table></div>`;
  return `<details${bad ? " open" : ""}>
<summary><strong>${escaped(titleOf(resource))}</strong> ${kind} <span class="tag${bad ? " bad" : ""}">${effect}</span></summary>
<p>${escaped(consequence)}${finding.protected ? " The <code>protect</code> option prevents this." : ""}</p>
${place ? `<p class="sub">Declared in <code>${escaped(place)}</code></p>` : ""}
${table}
<dl>${fix(apply, fixes.apply)}${fix(accept, fixes.accept)}</dl>
</details>`;
}

function fix(title: string, { edit, command }: Fix): string {
  const instruction = edit === undefined ? "" : `<p>${escaped(edit)}</p>`;
  const run = command === undefined ? "" : `<pre tabindex="0"><code>${escaped(command)}</code></pre>`;
  return `<dt>${title}</dt><dd>${instruction}${run}</dd>`;
}

function atOnce({ fixes }: StackReport): string {
  const rows = fix("revert", { command: fixes.apply }) + fix("accept", { command: fixes.accept });
  return `<details><summary>All drift at once</summary><dl>${rows}</dl></details>`;
}

function unmanaged({ unmanaged: found }: StackReport): string {
  if (found.length === 0) return "";
  const entries = found.map(
    ({ type, name, id, fixes }: Unmanaged) =>
      `<details><summary><strong>${type} ${escaped(name)}</strong> <code>${escaped(id)}</code></summary>` +
      `<dl>${fix("delete", fixes.apply)}${fix("adopt", fixes.accept)}</dl></details>`,
  );
  const subtitle = "Exists in the service, but no given stack manages it";
  return heading("Unmanaged", found.length, subtitle) + entries.join("");
}

function orphans({ orphans: found }: StackReport): string {
  if (found.length === 0) return "";
  const entries = found.map((one) => {
    const details = orphanDetails(one);
    return (
      `<details><summary><strong>${one.type} ${escaped(one.name)}</strong> <code>${escaped(one.id)}</code></summary>` +
      `${details && `<p>${escaped(details)}</p>`}<dl>${fix("delete", one.fixes.apply)}</dl></details>`
    );
  });
  const subtitle = "Left behind, and not used by any given stack";
  return heading("Orphaned", found.length, subtitle) + entries.join("");
}

function notes(report: StackReport): string {
  return notesOf(report)
    .map(({ title, entries }) => {
      const list = entries.map((entry) => `<li>${escaped(entry)}</li>`).join("");
      return `<h3>${escaped(title)}</h3><ul>${list}</ul>`;
    })
    .join("\n");
}

function unobservable(report: StackReport): string {
  const { wholly, partly } = unobservableOf(report);
  if (wholly.length + partly.length === 0) return "";
  const inPart = partly.length > 0 ? `, and ${formatNumber(partly.length)} observable only in part` : "";
  const summary = `${formatCount(wholly.length, "resource")} not observable${inPart}`;
  const entry = ({ resource, part }: StackReport["unobservable"][number]) =>
    `<li>${escaped(titleOf(resource))}: ${escaped(part)}</li>`;
  const list = `<ul>${[...wholly, ...partly].map(entry).join("")}</ul>`;
  const folded = (title: string) => `<details><summary>${title}</summary>${list}</details>`;
  if (wholly.length === 0)
    return (
      heading("Observed in part", partly.length) +
      folded(`${formatCount(partly.length, "resource")} observed only in part`)
    );
  const subtitle = "The API cannot read them, so they may have drifted";
  return heading("Not observable", wholly.length, subtitle) + folded(summary);
}

function warnings({ warnings: texts }: StackReport): string {
  if (texts.length === 0) return "";
  return `<h3>Warnings</h3><ul>${texts.map((text) => `<li>${escaped(text)}</li>`).join("")}</ul>`;
}

function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return withoutControls(text).replace(/[&<>"]/g, (character) => entities[character] as string);
}
