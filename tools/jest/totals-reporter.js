const { writeFileSync } = require("node:fs");
const path = require("node:path");

/**
 * Prints the tests that this machine cannot run, then `N passed, N failed`, including what `npm test` has counted
 * before. Writes the test files with failures to RECOMMENDER_FAILURES, for the second attempt of `npm test -- --all`.
 */
class TotalsReporter {
  /**
   * @param {unknown} _contexts
   * @param {import("@jest/reporters").AggregatedResult} results
   */
  onRunComplete(_contexts, results) {
    const [passedBefore = 0, failedBefore = 0] = (process.env.RECOMMENDER_COUNTED ?? "")
      .split(" ")
      .map(Number);
    const passed = results.numPassedTests + passedBefore;
    // A test file that cannot be loaded has no tests to count, so it counts as one failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + failedBefore;
    const { RECOMMENDER_FAILURES: failures } = process.env;
    if (failures) writeFileSync(failures, JSON.stringify(failuresOf(results)));
    const lines = [...testsNotRun(results), ...secondAttempts(results)];
    // Jest prints its own summary after all reporters, so this waits until the process exits.
    process.once("exit", () => {
      for (const line of lines) console.log(line);
      console.log(`${passed} passed, ${failed} failed`);
    });
  }
}

/**
 * Returns the test files with failures, and how many tests passed in all other files.
 * @param {import("@jest/reporters").AggregatedResult} results
 */
function failuresOf({ testResults }) {
  const failed = testResults.filter((suite) => suite.numFailingTests > 0 || suite.testExecError);
  const files = [...new Set(failed.map(({ testFilePath }) => testFilePath))];
  const others = testResults.filter(({ testFilePath }) => !files.includes(testFilePath));
  return { files, passedElsewhere: others.reduce((sum, suite) => sum + suite.numPassingTests, 0) };
}

/**
 * Returns a line for each test file of a second attempt, so that a test that fails now and then is noticed.
 * @param {import("@jest/reporters").AggregatedResult} results
 */
function secondAttempts({ testResults }) {
  if (process.env.RECOMMENDER_ATTEMPT !== "second") return [];
  const lines = testResults.map((suite) => {
    const passed = suite.numFailingTests === 0 && !suite.testExecError;
    const file = path.relative(process.cwd(), suite.testFilePath);
    return `${file}: failed beside other tests, and ${passed ? "passed" : "failed"} alone`;
  });
  return [...new Set(lines)];
}

/**
 * Lists the tests that this machine cannot run, grouped by the reason in their names (test/unless.ts).
 * @param {import("@jest/reporters").AggregatedResult} results
 */
function testsNotRun(results) {
  /** @type {Map<string, string[]>} */
  const byReason = new Map();
  for (const { testFilePath, testResults } of results.testResults) {
    for (const { fullName, status } of testResults) {
      const [, name, reason] = /^(.*?) \(not run here: (.*?)\)/s.exec(fullName) ?? [];
      if (status !== "pending" || name === undefined || reason === undefined) continue;
      const file = path.relative(process.cwd(), testFilePath);
      byReason.set(reason, [...(byReason.get(reason) ?? []), `  ${file}: ${name}`]);
    }
  }
  return [...byReason].flatMap(([reason, names]) => [
    `Not run here, because ${reason} (${names.length}):`,
    ...new Set(names),
  ]);
}

module.exports = TotalsReporter;
