import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "./provide";

const attempts = require.resolve("../../tools/jest/attempts.js");

/** Runs jest with the given test files, once or twice as CI does, and returns its output and exit code. */
async function runJest(files: Record<string, string>, passed = 0, failed = 0, run = "runTests") {
  const directory = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const reporters = ["default", require.resolve("../../tools/jest/totals-reporter.js")];
  await writeFile(join(directory, "jest.config.json"), JSON.stringify({ reporters, transform: {} }));
  const counted = JSON.stringify({ passed, failed });
  const program = `require(${JSON.stringify(attempts)}).${run}([], ${counted}, {}, ${JSON.stringify(directory)})
    .then((passed) => { process.exitCode = passed ? 0 : 1; })`;
  const jest = spawnSync(process.execPath, ["-e", program], { cwd: directory, encoding: "utf8" });
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
  expect(await runJest(files, 4, 1)).toMatchObject({ lastLine: "6 passed, 3 failed", code: 1 });
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

test("a test file that fails once runs again, and is named, but other files do not", async () => {
  const once = `const { existsSync, writeFileSync } = require("node:fs");
    test("fails once", () => {
      const before = existsSync("before");
      writeFileSync("before", "");
      expect(before).toBe(true);
    });`;
  const { lines, code } = await runJest({ "a.test.js": passing, "b.test.js": once }, 4, 0, "runTestsTwice");
  expect(lines.slice(-2)).toEqual([
    "b.test.js: failed beside other tests, and passed alone",
    "7 passed, 0 failed",
  ]);
  expect(code).toBe(0);
});

test("a test file that fails twice fails the run", async () => {
  const failing = 'test("three", () => { throw new Error("no"); });';
  const { lines, code } = await runJest(
    { "a.test.js": passing, "b.test.js": failing },
    0,
    0,
    "runTestsTwice",
  );
  expect(lines.slice(-2)).toEqual([
    "b.test.js: failed beside other tests, and failed alone",
    "2 passed, 1 failed",
  ]);
  expect(code).toBe(1);
});

test("many test files with failures do not run again", async () => {
  const names = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}.test.js`);
  const files = Object.fromEntries(names.map((name) => [name, "this is no program"]));
  const { lines, code } = await runJest(files, 0, 0, "runTestsTwice");
  expect(lines.join("\n")).not.toContain("Second attempt");
  expect(lines.at(-1)).toBe("0 passed, 6 failed");
  expect(code).toBe(1);
});
