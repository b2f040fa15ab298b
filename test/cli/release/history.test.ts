import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatHistory, type Release, ReleaseFile } from "../../../cli/release/history";

const folder = mkdtempSync(join(tmpdir(), "releases-"));
afterAll(() => rmSync(folder, { recursive: true }));
const of = { project: "shop", stack: "dev" };
const release = (id: string, status: Release["status"] = "done"): Release => ({
  id,
  action: "release",
  status,
  beganAt: "2026-01-01T00:00:00.000Z",
  program: { commit: "abc", dirty: false },
  versions: { package: "0.1.0", sdk: "3.230.0", engine: "3.259.0" },
});

describe("the history of a stack", () => {
  test("is empty before the first release, and numbers what comes", async () => {
    const file = await ReleaseFile.open(folder, of);
    expect(file.releases).toEqual([]);
    const { id: _, ...first } = release("");
    expect((await file.add(first)).id).toBe("dev-1");
  });

  test("is appended to, and an entry changes only in its own place", async () => {
    const file = await ReleaseFile.open(folder, of);
    await file.put(release("dev-2", "running"));
    const before = readFileSync(file.path, "utf8");
    expect((await ReleaseFile.open(folder, of)).interrupted?.id).toBe("dev-2");
    await file.put(release("dev-2", "done"));
    await file.put(release("dev-3", "failed"));
    const after = readFileSync(file.path, "utf8");
    const first = before.slice(0, before.indexOf('"dev-2"'));
    expect(after.startsWith(first)).toBe(true);
    const again = await ReleaseFile.open(folder, of);
    expect(again.releases.map(({ id, status }) => [id, status])).toEqual([
      ["dev-1", "done"],
      ["dev-2", "done"],
      ["dev-3", "failed"],
    ]);
    expect([again.latest?.id, again.interrupted]).toEqual(["dev-2", undefined]);
    expect(readdirSync(folder)).toEqual(["dev.json"]);
  });

  test("keeps the entries of two runs that work on it at once, and the later one is told", async () => {
    const stack = { ...of, stack: "shared" };
    const { id: _, ...begun } = release("", "running");
    const [one, other] = [await ReleaseFile.open(folder, stack), await ReleaseFile.open(folder, stack)];
    const [first] = await Promise.allSettled([one.add(begun), other.add(begun)]).then((results) =>
      results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
    );
    expect(first?.id).toBe("shared-1");
    await expect(other.add(begun)).rejects.toThrow(/has changed since it was read: shared-1\. Another run/);
    const third = await ReleaseFile.open(folder, stack);
    await third.add(begun);
    // The first one ends after the other has begun.
    await one.put({ ...begun, id: "shared-1", status: "done" });
    const ids = (await ReleaseFile.open(folder, stack)).releases.map(({ id, status }) => [id, status]);
    expect(ids).toEqual([
      ["shared-1", "done"],
      ["shared-2", "running"],
    ]);
    rmSync(join(folder, "shared.json"));
  });

  test("loses nothing if many processes write to it at once", async () => {
    const stack = { ...of, stack: "busy" };
    const writers = Array.from({ length: 20 }, async (_, at) => {
      const file = await ReleaseFile.open(folder, stack);
      await file.put(release(`busy-${at}`));
    });
    await Promise.all(writers);
    const { releases } = await ReleaseFile.open(folder, stack);
    expect(releases.map(({ id }) => id).sort()).toEqual(
      Array.from({ length: 20 }, (_, at) => `busy-${at}`).sort(),
    );
    rmSync(join(folder, "busy.json"));
  });

  test("has the same text whatever order its fields were given in", () => {
    const one = { version: 1 as const, ...of, releases: [release("dev-1")] };
    const { id, ...rest } = release("dev-1");
    const other = { releases: [{ ...rest, id }], stack: "dev", project: "shop", version: 1 as const };
    expect(formatHistory(other)).toBe(formatHistory(one));
  });

  test.each([
    ["{ half", /staging.json is not JSON: Expected property name/],
    ["{\n<<<<<<< HEAD\n}", /is not JSON: it holds a merge conflict: keep both sides/],
    ['{"version":2}', /is not a file of releases: version: /],
    [
      JSON.stringify({ version: 1, project: "other", stack: "staging", releases: [] }),
      /is of project other, not of shop: give another folder with --releases/,
    ],
  ])("that cannot be read is refused and not written over: %j", async (text, message) => {
    const path = join(folder, "staging.json");
    writeFileSync(path, text);
    await expect(ReleaseFile.open(folder, { ...of, stack: "staging" })).rejects.toThrow(message);
    expect(readFileSync(path, "utf8")).toBe(text);
    rmSync(path);
  });
});
