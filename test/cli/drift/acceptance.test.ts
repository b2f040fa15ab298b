import { acceptFindings } from "../../../cli/drift/acceptance";
import { shouldFail } from "../../../cli/drift/fail-on";
import type { Report, StackReport } from "../../../cli/drift/finding";
import { type Format, renderers } from "../../../cli/drift/render/formats";
import { parsePolicy } from "../../../cli/policy/file";
import { change, drifted, reportOf, stackReport } from "./sample";

interface Entry {
  readonly stack?: string;
  readonly resource: string;
  readonly property?: string;
  readonly until?: string;
}

const now = new Date("2026-11-19T23:59:59Z");

function accept(report: Report, ...entries: readonly Entry[]): Report {
  const all = entries.map((entry) => ({ stack: "dev", reason: "a sale", until: "2026-12-01", ...entry }));
  const policy = parsePolicy(JSON.stringify({ drift: { accept: all } }), "recommender.yaml");
  return acceptFindings(report, policy, now);
}

const name = { path: "name", declared: "a", actual: "b" };
const place = { path: "attributeSchema.place", declared: "CATEGORICAL", actual: "NUMERICAL" };
const events = drifted("changed", "EventDataset", "events", [name, place]);
const onlyEvents = reportOf(stackReport({ drift: [events], changes: [] }));
const first = ({ stacks }: Report) => stacks[0] as StackReport;

describe("an acceptance in recommender.yaml", () => {
  test.each<[string, Entry[]]>([
    ["of the resource by its name", [{ resource: "events" }]],
    ["of the resource by its type and name", [{ resource: "EventDataset events" }]],
    ["of the resource by its URN", [{ resource: events.resource.urn }]],
    [
      "of each property, one of them by the property that contains it",
      [
        { resource: "events", property: "name" },
        { resource: "events", property: "attributeSchema" },
      ],
    ],
    ["on its last day", [{ resource: "events", until: "2026-11-19" }]],
  ])("%s removes the finding, and the check succeeds", (_, entries) => {
    const report = accept(onlyEvents, ...entries);
    expect(report.verdict).toBe("clean");
    expect(first(report)).toMatchObject({
      drift: [],
      accepted: [{ comparison: "drift", finding: events }],
      expired: [],
      unused: [],
    });
    expect(first(report).accepted[0]?.by.map(({ resource, property }) => ({ resource, property }))).toEqual(
      entries.map(({ resource, property }) => ({ resource, property })),
    );
    expect(shouldFail(report, ["drift", "changes"])).toBe(false);
  });

  test.each<[string, Entry]>([
    ["of another stack", { stack: "prod", resource: "events" }],
    ["of another resource", { resource: "Model events" }],
    ["of a property whose name only starts the same", { resource: "events", property: "nam" }],
  ])("%s accepts nothing", (_, entry) => {
    const report = accept(onlyEvents, entry);
    expect(first(report)).toMatchObject({ drift: [events], accepted: [] });
    expect(first(report).unused).toHaveLength(entry.stack === "prod" ? 0 : 1);
    expect(shouldFail(report, ["drift"])).toBe(true);
  });

  test("of one of two properties marks that property, and the check still fails", () => {
    const report = accept(onlyEvents, { resource: "events", property: "name" });
    expect(first(report).drift).toEqual([{ ...events, properties: [{ ...name, accepted: true }, place] }]);
    expect(first(report)).toMatchObject({ accepted: [], unused: [] });
    expect(renderers.text(report)).toContain('name: declared "a", actual "b" (accepted)');
    expect(shouldFail(report, ["drift"])).toBe(true);
  });

  test("of a property does not accept that the resource is gone or not serving", () => {
    const failed = { path: "checkFailed", declared: false, actual: true };
    const drift = [
      drifted("deleted", "EventDataset", "spare"),
      drifted("not serving", "Deployment", "live", [failed]),
    ];
    const report = accept(
      reportOf(stackReport({ drift, changes: [] })),
      { resource: "spare", property: "name" },
      { resource: "live", property: "checkFailed" },
    );
    expect(first(report)).toMatchObject({ drift, accepted: [] });
  });

  test("also accepts pending changes", () => {
    const qps = change("update", "Deployment", "live", [{ path: "qps", declared: 30, actual: 20 }]);
    const report = accept(reportOf(stackReport({ drift: [], changes: [qps] })), {
      resource: "live",
      property: "qps",
    });
    expect(first(report)).toMatchObject({ changes: [], accepted: [{ comparison: "changes" }] });
  });

  test("that has expired accepts nothing, and fails the check even without a finding", () => {
    const expired = { resource: "events", until: "2026-11-18" };
    expect(first(accept(onlyEvents, expired))).toMatchObject({ drift: [events], accepted: [] });
    const report = accept(reportOf(stackReport({ drift: [], changes: [] })), expired);
    expect(report.verdict).toBe("found");
    expect(first(report).expired).toMatchObject([
      { resource: "events", until: "2026-11-18", location: { file: "recommender.yaml", line: 1 } },
    ]);
    expect(shouldFail(report, ["replace"])).toBe(true);
    expect(shouldFail(report, ["none"])).toBe(false);
  });

  test.each(Object.keys(renderers) as Format[])(
    "is listed with its reason, its date and its line in %s",
    (format) => {
      const report = accept(
        onlyEvents,
        { resource: "EventDataset events" },
        { resource: "old", until: "2026-11-01" },
        { resource: "typo" },
      );
      const text = renderers[format](report).replace(/\s+/g, " ").replaceAll("&#46;", ".");
      for (const part of ["a sale", "2026-12-01", "2026-11-01", "typo"]) expect(text).toContain(part);
      if (format === "json") expect(text).toContain('"location": { "file": "recommender.yaml", "line": 1');
      else if (format !== "sarif") expect(text).toContain("recommender.yaml:1");
    },
  );

  test("suppresses the result in SARIF, with the reason", () => {
    const { runs } = JSON.parse(renderers.sarif(accept(onlyEvents, { resource: "events" })));
    const suppressed = runs[0].results.filter((one: { suppressions?: object[] }) => one.suppressions);
    expect(suppressed).toMatchObject([
      {
        ruleId: "drift/changed",
        suppressions: [
          {
            kind: "external",
            status: "accepted",
            justification: expect.stringMatching(/^a sale; until 2026/),
          },
        ],
      },
    ]);
  });

  test("is counted in the summary", () => {
    const text = renderers.text(
      accept(onlyEvents, { resource: "events" }, { resource: "x", until: "2026-01-01" }),
    );
    expect(text.split("\n").slice(0, 2).join(" ")).toContain(
      "no other drift seen, no other pending changes, 1 unmanaged, 1 orphaned, 1 accepted, 1 expired acceptance",
    );
  });
});
