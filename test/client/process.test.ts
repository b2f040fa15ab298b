import { hostname } from "node:os";
import { isRunning } from "../../client/process";
import { type Entry, isAlive } from "../../provider/recovery/journal";

describe("a process", () => {
  afterEach(() => jest.restoreAllMocks());

  /** The operating system's answer to a signal for the process. */
  function answering(code: string) {
    jest.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
  }

  test("of another user runs, also for what an interrupted run has written down", () => {
    answering("EPERM");
    expect(isRunning(7)).toBe(true);
    expect(isAlive({ pid: 7, host: hostname() } as Entry)).toBe(true);
  });

  test("that is not there does not", () => {
    answering("ESRCH");
    expect(isRunning(7)).toBe(false);
    expect(isAlive({ pid: 7, host: hostname() } as Entry)).toBe(false);
  });
});
