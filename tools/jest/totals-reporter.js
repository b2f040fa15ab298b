const path = require("node:path");

/** Ends a run with `N passed, N failed`, after a list of the tests that could not run here; `npm test` adds its checks. */
class TotalsReporter {
  /**
   * @param {unknown} _contexts
   * @param {import("@jest/reporters").AggregatedResult} results
   */
  onRunComplete(_contexts, results) {
    const [checksPassed = 0, checksFailed = 0] = (process.env.RECOMMENDER_CHECKS ?? "")
      .split(" ")
      .map(Number);
    const passed = results.numPassedTests + checksPassed;
    // A file that could not even be loaded has no tests that could be counted.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + checksFailed;
    const notRun = testsNotRun(results);
    // Jest appends its own summary after all reporters, and this line is to be the last.
    process.once("exit", () => {
      for (const line of notRun) console.log(line);
      console.log(`${passed} passed, ${failed} failed`);
    });
  }
}

/**
 * The tests that this machine cannot run, grouped by the reason that their names carry (test/unless.ts).
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
