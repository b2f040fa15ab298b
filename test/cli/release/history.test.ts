import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatHistory, type Release, ReleaseFile, type Watch } from "../../../cli/release/history";

const directory = mkdtempSync(join(tmpdir(), "releases-"));
afterAll(() => rmSync(directory, { recursive: true }));
const owner = { project: "shop", stack: "dev" };
const release = (id: string, status: Release["status"] = "done"): Release => ({
  id,
  action: "release",
  status,
  beganAt: "2026-01-01T00:00:00.000Z",
  program: { commit: "abc", dirty: false },
  versions: { package: "0.1.0", sdk: "3.230.0", engine: "3.259.0" },
});

describe("the history of a stack", () => {
  test("is empty before the first release, and numbers new entries", async () => {
    const file = await ReleaseFile.open(directory, owner);
    expect(file.releases).toEqual([]);
    const { id: _, ...first } = release("");
    expect((await file.add(first)).id).toBe("dev-1");
  });

  test("appends entries, and replaces an entry in place", async () => {
    const file = await ReleaseFile.open(directory, owner);
    await file.put(release("dev-2", "running"));
    const before = readFileSync(file.path, "utf8");
    expect((await ReleaseFile.open(directory, owner)).interrupted?.id).toBe("dev-2");
    await file.put(release("dev-2", "done"));
    await file.put(release("dev-3", "failed"));
    const after = readFileSync(file.path, "utf8");
    const first = before.slice(0, before.indexOf('"dev-2"'));
    expect(after.startsWith(first)).toBe(true);
    const again = await ReleaseFile.open(directory, owner);
    expect(again.releases.map(({ id, status }) => [id, status])).toEqual([
      ["dev-1", "done"],
      ["dev-2", "done"],
      ["dev-3", "failed"],
    ]);
    expect([again.latest?.id, again.interrupted]).toEqual(["dev-2", undefined]);
    expect(readdirSync(directory)).toEqual(["dev.json"]);
  });

  test("keeps the entries of two concurrent runs, and the later run fails", async () => {
    const stack = { ...owner, stack: "shared" };
    const { id: _, ...begun } = release("", "running");
    const [one, other] = [await ReleaseFile.open(directory, stack), await ReleaseFile.open(directory, stack)];
    const [first] = await Promise.allSettled([one.add(begun), other.add(begun)]).then((results) =>
      results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
    );
    expect(first?.id).toBe("shared-1");
    await expect(other.add(begun)).rejects.toThrow(
      /has changed since it was read \(shared-1\)\. Another run/,
    );
    const third = await ReleaseFile.open(directory, stack);
    await third.add(begun);
    // The first run ends after the third has started.
    await one.put({ ...begun, id: "shared-1", status: "done" });
    const ids = (await ReleaseFile.open(directory, stack)).releases.map(({ id, status }) => [id, status]);
    expect(ids).toEqual([
      ["shared-1", "done"],
      ["shared-2", "running"],
    ]);
    rmSync(join(directory, "shared.json"));
  });

  test("loses nothing if many processes write at once", async () => {
    const stack = { ...owner, stack: "busy" };
    const writers = Array.from({ length: 20 }, async (_, at) => {
      const file = await ReleaseFile.open(directory, stack);
      await file.put(release(`busy-${at}`));
    });
    await Promise.all(writers);
    const { releases } = await ReleaseFile.open(directory, stack);
    expect(releases.map(({ id }) => id).sort()).toEqual(
      Array.from({ length: 20 }, (_, at) => `busy-${at}`).sort(),
    );
    rmSync(join(directory, "busy.json"));
  });

  test("is not locked by a process of this machine that was killed, but by any other process", async () => {
    const stack = { ...owner, stack: "locked" };
    const path = join(directory, "locked.json");
    const script = `
      require(${JSON.stringify(join(__dirname, "../../../dist/cli/release/history-lock.js"))})
        .withFileLock(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"));`;
    const { signal } = spawnSync(process.execPath, ["-e", script], { env: process.env });
    expect({ signal, left: readdirSync(directory).includes("locked.json.lock") }).toEqual({
      signal: "SIGKILL",
      left: true,
    });
    const file = await ReleaseFile.open(directory, stack);
    await file.put(release("locked-1"));
    writeFileSync(`${path}.lock`, "process 1 on another machine\n");
    await expect(file.put(release("locked-2"))).rejects.toThrow(/is locked by process 1 on another machine/);
    rmSync(`${path}.lock`);
    rmSync(path);
  });

  test("accepts a new entry while a watch goes on, which ends it", async () => {
    const stack = { ...owner, stack: "watched" };
    const watch: Watch = {
      state: "watching",
      forMs: 1000,
      limits: { maxErrors: 0.1, maxEmpty: 0.1, maxPopularityIncrease: 0.1 },
      observedMs: 0,
    };
    const watcher = await ReleaseFile.open(directory, stack);
    await watcher.put({ ...release("watched-1"), watch });
    const other = await ReleaseFile.open(directory, stack);
    const progress = { ...release("watched-1"), watch: { ...watch, observedMs: 500 } };
    expect((await watcher.putWatched(progress)).watch?.observedMs).toBe(500);
    const { id: _, ...begun } = release("", "running");
    await other.add(begun);
    expect((await watcher.putWatched(progress)).watch).toMatchObject({ state: "ended", observedMs: 500 });
    expect(watcher.watched).toBeUndefined();
    rmSync(watcher.path);
  });

  test("has the same text for any order of fields", () => {
    const one = { version: 1 as const, ...owner, releases: [release("dev-1")] };
    const { id, ...rest } = release("dev-1");
    const other = { releases: [{ ...rest, id }], stack: "dev", project: "shop", version: 1 as const };
    expect(formatHistory(other)).toBe(formatHistory(one));
  });

  test("keeps fields that a newer version added", async () => {
    const path = join(directory, "newer.json");
    const quality = { ndcgAt20: 0.5, novelMetric: 1 };
    const contents = {
      records: [],
      algorithms: [],
      models: [{ name: "m", modelId: "m1", projectId: "p", quality, size: 3 }],
      deployments: [],
    };
    const newer = { ...release("newer-1"), approvedBy: "ada", contents };
    writeFileSync(path, JSON.stringify({ version: 1, project: "shop", stack: "newer", releases: [newer] }));
    const { id: _, ...next } = release("");
    await (await ReleaseFile.open(directory, { ...owner, stack: "newer" })).add(next);
    const [kept] = JSON.parse(readFileSync(path, "utf8")).releases;
    expect(kept).toEqual(newer);
    rmSync(path);
  });

  test.each([
    ["{ half", /staging.json is not JSON: Expected property name/],
    ["{\n<<<<<<< HEAD\n}", /is not JSON: it has a merge conflict; keep both sides/],
    [
      '{"version":2}',
      /has a format that this version cannot read\. If a newer version wrote it, update pulumi-recommender/,
    ],
    ['{"version":1}', /is not a release history: project: missing/],
    [
      JSON.stringify({ version: 1, project: "other", stack: "staging", releases: [] }),
      /belongs to project other, not to shop. Choose another directory with --releases/,
    ],
  ])("is rejected and not overwritten if it is invalid: %j", async (text, message) => {
    const path = join(directory, "staging.json");
    writeFileSync(path, text);
    await expect(ReleaseFile.open(directory, { ...owner, stack: "staging" })).rejects.toThrow(message);
    expect(readFileSync(path, "utf8")).toBe(text);
    rmSync(path);
  });
});
