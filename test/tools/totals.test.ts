import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "./provide";

/** Runs jest with the given test files, and returns its output and exit code. */
async function runJest(files: Record<string, string>, checks?: string) {
  const directory = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const reporters = ["default", require.resolve("../../tools/jest/totals-reporter.js")];
  await writeFile(join(directory, "jest.config.json"), JSON.stringify({ reporters, transform: {} }));
  const jest = spawnSync(process.execPath, [require.resolve("jest/bin/jest")], {
    cwd: directory,
    env: { ...process.env, RECOMMENDER_CHECKS: checks },
    encoding: "utf8",
  });
  const lines = jest.stdout.trimEnd().split("\n");
  return { lastLine: lines.at(-1), code: jest.status, lines };
}

const passing = 'test("one", () => {}); test("two", () => {});';

test("a run ends with the totals", async () => {
  expect(await runJest({ "a.test.js": passing })).toMatchObject({ lastLine: "2 passed, 0 failed", code: 0 });
});

test("a file that cannot be loaded and a failed check count as failures", async () => {
  const files = {
    "a.test.js": passing,
    "b.test.js": 'test("three", () => { throw new Error("no"); });',
    "c.test.js": "this is no program",
  };
  expect(await runJest(files, "4 1")).toMatchObject({ lastLine: "6 passed, 3 failed", code: 1 });
});

test("a run lists the tests that this machine cannot run, with the reason", async () => {
  const skipped = ["three", "four"].map(
    (name) => `test.skip("${name} (not run here: there is no go)", () => {});`,
  );
  const group = 'describe.skip("buckets (not run here: there is no go)", () => { test("five", () => {}); });';
  const { lines, code } = await runJest({ "a.test.js": [passing, ...skipped, group].join("\n") });
  expect(lines.slice(-5)).toEqual([
    "Not run here, because there is no go (3):",
    "  a.test.js: three",
    "  a.test.js: four",
    "  a.test.js: buckets",
    "2 passed, 0 failed",
  ]);
  expect(code).toBe(0);
});
