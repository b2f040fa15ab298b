/** Ends a run with `N passed, N failed`; `npm test` counts its checks in. */
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
    // Jest appends its own summary after all reporters, and this line is to be the last.
    process.once("exit", () => console.log(`${passed} passed, ${failed} failed`));
  }
}

module.exports = TotalsReporter;
