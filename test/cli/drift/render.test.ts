import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020";
import Ajv4 from "ajv-draft-04";
import addFormats from "ajv-formats";
import type { Finding } from "../../../cli/drift/finding";
import { jsonSchema } from "../../../cli/drift/finding";
import { type Format, formatOf, renderers } from "../../../cli/drift/render/formats";
import { markerOf, renderMarkdown } from "../../../cli/drift/render/markdown";
import { change, cleanStack, drifted, reportOf, stackReport } from "./sample";

const formats = Object.keys(renderers) as Format[];

describe("a report of drift", () => {
  test("has a format for each extension: text, markdown, json, sarif, html", () => {
    expect(["a.txt", "b.md", "c.json", "d.sarif", "e.HTML"].map(formatOf)).toEqual(formats);
    expect(() => formatOf("report")).toThrow(/Use \.txt, \.md, \.json, \.sarif, \.html, or add --format/);
  });

  test.each(formats)("shows both comparisons, the consequence and both fixes in %s", (format) => {
    const text = renderers[format](reportOf(stackReport()));
    const plain = format === "html" ? text.replaceAll("&quot;", '"') : text;
    for (const part of [
      "It is replaced and its events are lost",
      "pulumi up --refresh --stack dev",
      "pulumi refresh --stack dev",
      "recommender datasets delete e-9",
      "recommender orphans delete p-7",
      "which models serve",
    ]) {
      expect(plain).toContain(part);
    }
  });

  test.each(["text", "markdown", "html"] as const)(
    "shows the fix of all drift after the drift in %s",
    (format) => {
      const text = renderers[format](reportOf(stackReport()));
      const [drift, all, pending] = ["Drift", "All drift at once", "Pending changes"].map((title) =>
        text.search(new RegExp(`^(<h3>|#### | *|.*<summary>)${title}`, "m")),
      ) as [number, number, number];
      expect([drift, all, pending]).toEqual([...[drift, all, pending]].sort((a, b) => a - b));
      expect(drift).toBeGreaterThan(-1);
    },
  );

  test("shows on its page the time, the commit, and what is collapsed", () => {
    const report = { ...reportOf(stackReport()), commit: "337ae9721a95c0d8aa", dirty: true as const };
    const html = renderers.html(report);
    expect(html).toContain("Compared on 2026-11-15 at 17:20 UTC, at commit 337ae9721a95");
    expect(html).toContain("with uncommitted changes");
    expect(html).toContain("<summary>1 resource not observable, and 1 observable only in part</summary>");
    expect(renderers.html(reportOf(stackReport()))).toContain("Compared on 2026-11-15 at 17:20 UTC</p>");
  });

  test("shows for a clean stack how much was observed, and that the rest may have drifted", () => {
    const text = renderers.text(reportOf(cleanStack()));
    expect(text).toMatch(/^dev: no drift seen, no pending changes \(5 of 9 resources observed\)\n/);
    expect(text).toContain("Not observable: 1, which may have drifted\n  Project shop\n");
  });

  test("fits into 80 columns, with commands that can be copied", () => {
    const report = stackReport();
    const text = renderers.text(reportOf(report));
    // A long word may exceed the width on its own line.
    const long = text.split("\n").filter((line) => line.length > 80 && line.trim().includes(" "));
    expect(long).toEqual([]);
    const joined = text.replace(/ \\\n +/g, " ");
    const commands = [...report.drift, ...report.changes].flatMap(({ fixes }) => fixes.apply.command ?? []);
    expect(commands.some((command) => command.length > 66)).toBe(true);
    for (const command of commands) expect(joined).toContain(command);
  });

  test("shortens hashes for people, but not for programs", () => {
    const hash = (letter: string) => `sha256:${letter.repeat(64)}`;
    const properties = [{ path: "triggers[0]", declared: hash("a"), actual: hash("b") }];
    const report = reportOf(stackReport({ drift: [drifted("changed", "Model", "weekly", properties)] }));
    expect(renderers.text(report)).toContain(`declared "sha256:${"a".repeat(12)}…", actual`);
    for (const format of ["text", "markdown", "html"] as const) {
      expect(renderers[format](report)).not.toContain(hash("a"));
    }
    expect(renderers.json(report)).toContain(hash("a"));
  });

  test("opens dangerous findings on the page", () => {
    const html = renderers.html(reportOf(stackReport()));
    expect(html).toMatch(/<details open>\s*<summary><strong>EventDataset spare<\/strong> deleted/);
    expect(html).toMatch(/<details>\s*<summary><strong>EventDataset events<\/strong> changed/);
  });
});

describe("names with markup, mentions, commands or control characters", () => {
  const hostile = `x</details><script>alert(1)</script>|\`@all\u001b[31m\n'; rm -rf $HOME #`;
  const report = reportOf(
    stackReport({
      drift: [
        drifted("changed", "EventDataset", hostile, [{ path: "name", declared: hostile, actual: "y" }]),
      ],
    }),
  );

  test.each(formats)("are harmless in %s", (format) => {
    const text = renderers[format](report);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain it
    expect(text).not.toMatch(/\u001b/);
    if (format === "html") expect(text).not.toContain("<script>");
    if (format === "markdown") {
      // Inside code fences, nothing is markup.
      const outside = text.replace(/```sh\n.*\n```/g, "");
      expect(outside).not.toMatch(/<script>|@all/);
      expect(outside.match(/<details>/g)).toHaveLength((outside.match(/<\/details>/g) ?? []).length);
    }
  });

  test("are quoted in commands", () => {
    const command = report.stacks[0]?.drift[0]?.fixes.apply.command ?? "";
    const [, quoted] = /--target ('.*)$/s.exec(command) ?? [];
    // The only quotes inside are escaped.
    expect(quoted?.replaceAll(`'\\''`, "")).toMatch(/^'[^']*'$/);
  });
});

describe("a review comment in Markdown", () => {
  test("has the verdict in the first line, dangers in bold, and the marker of its stack", () => {
    const text = renderMarkdown(reportOf(stackReport()));
    expect(text.split("\n")[0]).toBe(
      "### ❌ dev: 3 drifted, 4 pending changes, 1 unmanaged, 1 orphaned (5 of 9 resources observed): " +
        "**1 × not serving, 2 × loses data, 1 × retrains**",
    );
    expect(text).toContain("<!-- recommender-drift shop/dev -->");
    expect(renderMarkdown(reportOf(cleanStack()))).toMatch(/^### ✅ dev: no drift seen/);
  });

  test("stays under 60,000 characters with 5,000 findings, and prefers dangerous ones", () => {
    const many = (number: number, make: (at: number) => Finding) =>
      Array.from({ length: number }, (_, at) => make(at));
    const value = "v".repeat(300);
    const big = stackReport({
      changes: [
        ...many(2500, (at) =>
          change("update", "Model", `m${at}`, [{ path: "name", declared: value, actual: value }]),
        ),
        ...many(10, (at) => change("replace", "EventDataset", `lost${at}`)),
      ],
      drift: many(2490, (at) =>
        drifted("changed", "EventDataset", `e${at}`, [{ path: "name", declared: value, actual: "x" }]),
      ),
      unmanaged: Array.from({ length: 900 }, (_, at) => ({
        ...(stackReport().unmanaged[0] as ReturnType<typeof stackReport>["unmanaged"][number]),
        id: `by-hand-${at}`,
      })),
      unobservable: Array.from({ length: 900 }, (_, at) => ({
        resource: { urn: `u${at}`, type: "Project", name: `p${at}` },
        part: "it",
        whole: true,
      })),
    });
    const text = renderMarkdown(reportOf(big));
    expect(text.length).toBeLessThan(60_000);
    expect(text.length).toBeGreaterThan(40_000);
    for (let at = 0; at < 10; at++) expect(text).toContain(`<b>EventDataset lost${at}</b> replaced`);
    expect(text).toMatch(/…and 2,[0-9]{3} more;/);
    expect(text).toContain("900 unmanaged");
    expect(text).toContain("900 not observable");
    expect(text).toContain(markerOf(big));
  });

  test("stays under 60,000 characters with one huge finding, and with a thousand stacks", () => {
    const long = "x".repeat(5_000);
    const properties = Array.from({ length: 500 }, (_, at) => ({
      path: `p${at}${long}`,
      declared: long,
      actual: long,
    }));
    const one = renderMarkdown(
      reportOf(stackReport({ drift: [drifted("changed", "EventDataset", "e", properties)] })),
    );
    expect(one.length).toBeLessThan(60_000);
    expect(one).toContain("…and 1 more;");
    const stacks = Array.from({ length: 1000 }, (_, at) => stackReport({ stack: `s${at}` }));
    const many = renderMarkdown(reportOf(...stacks));
    expect(many.length).toBeLessThan(60_000);
    expect(many).toMatch(/…and [0-9]+ more stacks/);
  });
});

describe("for programs", () => {
  test("JSON matches its published schema, which rejects invalid reports", () => {
    const published = JSON.parse(readFileSync(join(__dirname, "../../../docs/drift.schema.json"), "utf8"));
    expect(published).toEqual(JSON.parse(JSON.stringify(jsonSchema())));
    const validate = new Ajv2020({ strict: true }).compile(published);
    validate(JSON.parse(renderers.json(reportOf(stackReport(), cleanStack()))));
    expect(validate.errors).toBeNull();
    expect(validate({ ...reportOf(cleanStack()), stacks: [{ ...cleanStack(), drift: [{}] }] })).toBe(false);
    expect(validate({ ...reportOf(cleanStack()), verdict: "fine" })).toBe(false);
  });

  test("SARIF matches the official schema of 2.1.0, and points to declarations", () => {
    const log = JSON.parse(renderers.sarif(reportOf(stackReport(), cleanStack())));
    const file = require.resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
    const validate = addFormats(new Ajv4({ strict: false, unicodeRegExp: false })).compile(
      JSON.parse(readFileSync(file, "utf8")),
    );
    validate(log);
    expect(validate.errors).toBeNull();
    expect(validate({ ...log, version: "2" })).toBe(false);

    const [run] = log.runs;
    expect(log.runs).toHaveLength(2);
    const [first] = run.results;
    expect(first).toMatchObject({ ruleId: "drift/deleted", level: "error" });
    expect(first.locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: "infra/src/data%20sets.ts", uriBaseId: "SRCROOT" },
      region: { startLine: 7, startColumn: 1 },
    });
    for (const { ruleId, ruleIndex } of run.results) expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId);
    const levels = Object.fromEntries(
      run.results.map((one: { ruleId: string; level: string }) => [one.ruleId, one.level]),
    );
    expect(levels).toEqual({
      "drift/deleted": "error",
      "drift/not-serving": "error",
      orphaned: "note",
      "drift/changed": "warning",
      "change/replaced": "error",
      "change/changed": "note",
      "change/created": "note",
      unmanaged: "note",
      unobservable: "note",
    });
  });
});
