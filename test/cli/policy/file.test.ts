import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePolicy, readPolicy } from "../../../cli/policy/file";

const directory = mkdtempSync(join(tmpdir(), "policy-"));
afterAll(() => rmSync(directory, { recursive: true }));

const entry = `drift:
  accept:
    - stack: prod
      resource: Deployment live
      property: qps
      reason: sale
      until: 2026-12-01
`;

describe("recommender.yaml", () => {
  test("is optional, and may be empty", () => {
    expect(readPolicy(directory).drift).toEqual({ accept: [] });
    expect(parsePolicy("# nothing yet\n", "recommender.yaml").drift).toEqual({ accept: [] });
  });

  test("lists accepted findings, with the line of each entry", () => {
    const policy = parsePolicy(entry, "recommender.yaml");
    expect(policy.drift.accept).toEqual([
      { stack: "prod", resource: "Deployment live", property: "qps", reason: "sale", until: "2026-12-01" },
    ]);
    expect(policy.lineOf(["drift", "accept", 0])).toBe(3);
  });

  test.each([
    ["drift: [", /^recommender\.yaml:1: .*\nFix the YAML syntax/],
    [
      "drift:\n  accept: []\n  accept: []\n",
      /^recommender\.yaml:3: Map keys must be unique\nFix the YAML syntax/,
    ],
    ["drift:\n  acept: []\n", /^recommender\.yaml:2: drift: acept is unknown; did you mean accept\?$/],
    ["drift:\n\n  accept: no\n", /^recommender\.yaml:3: drift\.accept: expected a list$/],
    ["drift:\n", /^recommender\.yaml:1: drift: expected an object$/],
    ["- drift\n", /^recommender\.yaml:1: expected an object$/],
    [
      entry.replace("2026-12-01", "next week"),
      /^recommender\.yaml:7: drift\.accept\[0\]\.until: expected a date such as 2027-01-31/,
    ],
    [entry.replace("2026-12-01", "2026-02-30"), /:7: drift\.accept\[0\]\.until: expected a date/],
    [
      entry.replace("      reason: sale\n", ""),
      /^recommender\.yaml:3: drift\.accept\[0\]\.reason: missing; expected text$/,
    ],
    [
      entry.replace("sale", "''"),
      /^recommender\.yaml:6: drift\.accept\[0\]\.reason: expected text that is not empty$/,
    ],
    [
      "a: 1\ndrift: 2\n",
      /^recommender\.yaml:2: drift: expected an object, received 2\nrecommender\.yaml:1: a is unknown$/,
    ],
  ])("names the file, the line and the field of an error: %j", (text, message) => {
    expect(() => parsePolicy(text, "recommender.yaml")).toThrow(message);
  });

  test("is never treated as empty if it exists but cannot be read", () => {
    const broken = join(directory, "broken");
    mkdirSync(join(broken, "recommender.yaml"), { recursive: true });
    expect(() => readPolicy(broken)).toThrow(/^Cannot read .*recommender\.yaml: EISDIR/);
    const wrong = join(directory, "wrong");
    mkdirSync(wrong);
    writeFileSync(join(wrong, "recommender.yaml"), "drift: [");
    expect(() => readPolicy(wrong)).toThrow(/recommender\.yaml:1: /);
  });
});
