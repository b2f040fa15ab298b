const path = require("node:path");

/** Prints the tests that this machine cannot run, then `N passed, N failed`, including the checks of `npm test`. */
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
    // A test file that cannot be loaded has no tests to count, so it counts as one failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + checksFailed;
    const notRun = testsNotRun(results);
    // Jest prints its own summary after all reporters, so this waits until the process exits.
    process.once("exit", () => {
      for (const line of notRun) console.log(line);
      console.log(`${passed} passed, ${failed} failed`);
    });
  }
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
