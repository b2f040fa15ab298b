type Declare = (name: string, run: () => Promise<void>, timeoutMs?: number) => void;

/**
 * Declares tests that some machines cannot run, for example because they need Go or Python. At the end of the run,
 * tools/jest/totals-reporter.js lists them with the reason.
 * @param reason why they cannot run here, or undefined if they can
 */
export function testUnless(reason: string | undefined, defaultTimeoutMs?: number): Declare {
  return (name, run, timeoutMs = defaultTimeoutMs) =>
    reason ? test.skip(`${name} (not run here: ${reason})`, run) : test(name, run, timeoutMs);
}

/** Declares a group of tests in the same way. */
export function describeUnless(reason: string | undefined): (name: string, run: () => void) => void {
  return (name, run) =>
    reason ? describe.skip(`${name} (not run here: ${reason})`, run) : describe(name, run);
}
