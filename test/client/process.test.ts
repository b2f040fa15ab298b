import { hostname } from "node:os";
import { isRunning } from "../../client/process";
import { isAlive } from "../../provider/recovery/entry-writer";
import type { JournalEntry } from "../../provider/recovery/journal";

describe("a process", () => {
  afterEach(() => jest.restoreAllMocks());

  /** Makes sending a signal to the process fail with an error code. */
  function failSignalsWith(code: string) {
    jest.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
  }

  test("of another user counts as running, also in the recovery journal", () => {
    failSignalsWith("EPERM");
    expect(isRunning(7)).toBe(true);
    expect(isAlive({ pid: 7, host: hostname() } as JournalEntry)).toBe(true);
  });

  test("that does not exist is not running", () => {
    failSignalsWith("ESRCH");
    expect(isRunning(7)).toBe(false);
    expect(isAlive({ pid: 7, host: hostname() } as JournalEntry)).toBe(false);
  });
});
