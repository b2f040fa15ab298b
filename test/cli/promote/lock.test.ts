import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { lockOwners, withStaleLockRemoved } from "../../../cli/promote/lock";
import type { OpenStack } from "../../../cli/stack/open";

describe("the lock of a stack", () => {
  const refusal = (host: string, pid: number, since = new Date("2026-01-01T10:00:00Z")) =>
    `error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with \`pulumi cancel\`.\n  file:///s/locks/x.json: created by ada@${host} (pid ${pid}) at ${since.toISOString().replace(/\.\d+/, "")}`;
  const attempt = (message: string, cancel: () => Promise<void>) => {
    let first = true;
    const open = { name: "prod", stack: { cancel } } as unknown as OpenStack;
    return withStaleLockRemoved(open, { wait: false, log: () => {} }, async () => {
      if (!first) return "worked";
      first = false;
      throw new Error("could not be compared", { cause: new Error(message) });
    });
  };
  const never = async () => {
    throw new Error("must not be cancelled");
  };

  test("reports its owner", () => {
    expect(lockOwners(refusal("mars", 12))).toEqual([
      { user: "ada", host: "mars", pid: 12, since: "2026-01-01T10:00:00Z" },
    ]);
  });

  /** Starts an engine for a stack and kills it. Returns its process id. */
  const killedEngine = async (stack: string) => {
    const directory = mkdtempSync(join(tmpdir(), "recommender-engine-"));
    const program = join(directory, "pulumi");
    writeFileSync(program, "#!/bin/sh\nkill -9 $$\n", { mode: 0o755 });
    const open = { name: stack } as unknown as OpenStack;
    const pid = await withStaleLockRemoved(open, { wait: false, log: () => {} }, async () => {
      const child = spawn(program);
      await once(child, "exit");
      return child.pid as number;
    });
    rmSync(directory, { recursive: true });
    return pid;
  };

  test("is removed if a command on this machine started its owner, which has ended", async () => {
    let cancelled = 0;
    const cancel = async () => {
      cancelled++;
    };
    const pid = await killedEngine("prod");
    expect(await attempt(refusal(hostname(), pid, new Date()), cancel)).toBe("worked");
    expect(cancelled).toBe(1);
  });

  test("stays if only the host name matches", async () => {
    const words = /is locked by ada@\S+, process \d+, since .*pulumi cancel --stack prod/;
    await expect(attempt(refusal(hostname(), 2 ** 22 + 1), never)).rejects.toThrow(words);
    // An engine of another stack, and an engine that was started long after the lock.
    const other = await killedEngine("staging");
    await expect(attempt(refusal(hostname(), other, new Date()), never)).rejects.toThrow(words);
    const later = await killedEngine("prod");
    await expect(attempt(refusal(hostname(), later), never)).rejects.toThrow(words);
  });

  test.each([
    [refusal(hostname(), process.pid), /is locked by ada@\S+, process \d+, since 2026/],
    [refusal("mars", 12), /is locked by ada@mars, process 12, since .*pulumi cancel --stack prod/],
    ["[409] Conflict: Another update is currently in progress.", /is locked by another update/],
    ["something else", /could not be compared/],
  ])("stays otherwise: %s", async (message, words) => {
    await expect(attempt(message, never)).rejects.toThrow(words);
  });
});
