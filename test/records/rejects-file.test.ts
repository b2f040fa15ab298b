import { existsSync, linkSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findFiles } from "../../records/source";
import { Loading, userLines } from "./loading";
import { runCommand } from "./run-command";

let loading: Loading;
beforeAll(async () => {
  loading = await Loading.start();
});
afterAll(() => loading.end());

const content = `${userLines(0, 2)}{"name":"no id"}\n`;
const at = (name: string) => join(loading.folder.path, name);

describe("a rejects file that is the source", () => {
  test.each<[string, (source: string) => string]>([
    ["by its path", (source) => source],
    ["by another spelling of its path", (source) => join(source, "..", ".", "same.ndjson")],
    [
      "by a symbolic link",
      (source) => linked("symbolic.ndjson", () => symlinkSync(source, at("symbolic.ndjson"))),
    ],
    ["by a hard link", (source) => linked("hard.ndjson", () => linkSync(source, at("hard.ndjson")))],
  ])("%s is refused, and the source stays as it is", async (_, rejectsFileOf) => {
    const id = await loading.dataset("users");
    const source = loading.folder.write("same.ndjson", content);
    const rejectsFile = rejectsFileOf(source);
    await expect(loading.upload("users", id, source, { rejectsFile })).rejects.toThrow(
      /the rejects file .* is the source .*same\.ndjson\. Choose a different file/,
    );
    expect(readFileSync(source, "utf8")).toBe(content);
    expect(loading.upserts()).toBe(0);
  });

  const linked = (name: string, link: () => void): string => {
    link();
    return at(name);
  };

  test("is refused by the command line too", async () => {
    const id = await loading.dataset("users");
    const source = loading.folder.write("named.ndjson", content);
    const args = ["import", "users", "named.ndjson", "--dataset", id, "--rejects", "named.ndjson"];
    expect(await runCommand(loading, args)).toMatchObject({ code: 1, upserts: 0 });
    expect(readFileSync(source, "utf8")).toBe(content);
  });
});

test("a file of the user that is not a rejects file is neither deleted nor overwritten", async () => {
  const id = await loading.dataset("users");
  const source = loading.folder.write("source.ndjson", content);
  const notes = loading.folder.write("notes.txt", "dear diary\n");
  await expect(loading.upload("users", id, source, { rejectsFile: notes })).rejects.toThrow(
    /notes\.txt exists and is not a rejects file, so it is not overwritten/,
  );
  expect(readFileSync(notes, "utf8")).toBe("dear diary\n");
});

test("a glob does not match a rejects file, whatever its name, and a second run sees no change", async () => {
  const id = await loading.dataset("users");
  loading.folder.write("globbed-1.ndjson", content);
  const glob = at("globbed-*.ndjson");
  const rejectsFile = at("globbed-rejects.ndjson");
  const options = { rejectsFile, maxFailures: 1 };
  expect(await loading.upload("users", id, glob, options)).toMatchObject({ calls: 1, failedCount: 1 });
  expect(existsSync(rejectsFile)).toBe(true);
  expect(await findFiles(glob)).toHaveLength(1);
  expect(await loading.upload("users", id, glob, options)).toMatchObject({ calls: 0, failedCount: 1 });
  expect(readFileSync(rejectsFile, "utf8")).toContain('"line":3');
});
