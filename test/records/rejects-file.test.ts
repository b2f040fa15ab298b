import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Client } from "../../client/client";
import { rejectsFileForSource } from "../../records/rejects";
import { findFiles } from "../../records/source";
import { Loading, userLines } from "./loading";
import { runCommand } from "./run-command";

let loading: Loading;
beforeAll(async () => {
  loading = await Loading.start();
});
afterAll(() => loading.end());

const content = `${userLines(0, 2)}{"name":"no id"}\n`;
const at = (name: string) => join(loading.directory.path, name);

const linked = (name: string, link: () => void): string => {
  link();
  return at(name);
};

describe("a rejects file that is the source", () => {
  test.each<[string, (source: string) => string]>([
    ["by its path", (source) => source],
    ["by another spelling of its path", (source) => join(source, "..", ".", "same.ndjson")],
    [
      "by a symbolic link",
      (source) => linked("symbolic.ndjson", () => symlinkSync(source, at("symbolic.ndjson"))),
    ],
    ["by a hard link", (source) => linked("hard.ndjson", () => linkSync(source, at("hard.ndjson")))],
  ])("%s is rejected, and the source is not changed", async (_, rejectsFileOf) => {
    const id = await loading.dataset("users");
    const source = loading.directory.write("same.ndjson", content);
    const rejectsFile = rejectsFileOf(source);
    await expect(loading.upload("users", id, source, { rejectsFile })).rejects.toThrow(
      /the rejects file .* is also the source .*same\.ndjson\. Choose a different file/,
    );
    expect(readFileSync(source, "utf8")).toBe(content);
    expect(loading.upserts()).toBe(0);
  });

  test("is rejected by the command line too", async () => {
    const id = await loading.dataset("users");
    const source = loading.directory.write("named.ndjson", content);
    const args = ["import", "users", "named.ndjson", "--dataset", id, "--rejects", "named.ndjson"];
    expect(await runCommand(loading, args)).toMatchObject({ code: 1, upserts: 0 });
    expect(readFileSync(source, "utf8")).toBe(content);
  });
});

describe("an existing file that an upload has not written", () => {
  const reject = '{"source":"x","line":1,"reason":"y"}\n';

  test.each([
    ["a text", "dear diary\n"],
    ["an empty file", ""],
    ["a file whose first line looks like a rejected record", `${reject}my notes\n`],
    ["a file of lines that look like rejected records", reject.repeat(2)],
    ["a line with a digest of the user", reject.replace("}", ',"digest":"0123456789abcdef"}')],
  ])("is neither overwritten nor deleted: %s", async (_, text) => {
    const id = await loading.dataset("users");
    const notes = loading.directory.write("notes.txt", text);
    for (const lines of [content, userLines(0, 2)]) {
      const source = loading.directory.write("source.ndjson", lines);
      await expect(loading.upload("users", id, source, { rejectsFile: notes })).rejects.toThrow(
        /notes\.txt exists and is not an unchanged rejects file, .*Move or delete it/,
      );
      expect(readFileSync(notes, "utf8")).toBe(text);
    }
    expect(loading.upserts()).toBe(0);
  });

  test("is not overwritten if it appears during the upload", async () => {
    const id = await loading.dataset("users");
    const source = loading.directory.write("source.ndjson", userLines(0, 3));
    const late = at("late.ndjson");
    const send = async () => {
      writeFileSync(late, "dear diary\n");
      return { succeedIds: ["u0", "u1"], failedIds: ["u2"] };
    };
    const client = Object.assign(Object.create(loading.observed.client), { send }) as Client;
    await expect(loading.upload("users", id, source, { rejectsFile: late, client })).rejects.toThrow(
      /cannot write the rejects file: EEXIST/,
    );
    expect(readFileSync(late, "utf8")).toBe("dear diary\n");
  });
});

describe("the rejects file of the last upload", () => {
  const rejected = async () => {
    const id = await loading.dataset("users");
    const rejectsFile = at(`rejects-of-${id}.ndjson`);
    const options = { rejectsFile, maxFailures: 9 };
    const source = loading.directory.write("again.ndjson", `${content}{"name":"\u2028"}\n`);
    await loading.upload("users", id, source, options);
    return { id, source, options, rejectsFile };
  };

  test("is deleted by an upload without rejected records", async () => {
    const { id, source, options, rejectsFile } = await rejected();
    expect(readFileSync(rejectsFile, "utf8").split("\n")).toHaveLength(3);
    loading.directory.write("again.ndjson", userLines(0, 2));
    await loading.upload("users", id, source, options);
    expect(existsSync(rejectsFile)).toBe(false);
  });

  test.each<[string, (text: string) => string]>([
    ["a note of the user", (text) => `${text}my notes\n`],
    ["an edited line", (text) => text.replace("no id", "Ada")],
    ["an incomplete last line", (text) => text.slice(0, -9)],
  ])("stays if it has %s", async (_, edit) => {
    const { id, source, options, rejectsFile } = await rejected();
    const edited = edit(readFileSync(rejectsFile, "utf8"));
    writeFileSync(rejectsFile, edited);
    loading.directory.write("again.ndjson", userLines(0, 2));
    await expect(loading.upload("users", id, source, options)).rejects.toThrow(/is not overwritten/);
    expect(readFileSync(rejectsFile, "utf8")).toBe(edited);
  });

  test("stays if the path is a link to it from another directory", async () => {
    const { id, source, options, rejectsFile } = await rejected();
    const archived = readFileSync(rejectsFile, "utf8");
    mkdirSync(at(`links-${id}`));
    const link = linked(`links-${id}/rejects.ndjson`, () =>
      symlinkSync(rejectsFile, at(`links-${id}/rejects.ndjson`)),
    );
    for (const lines of [content, userLines(0, 2)]) {
      loading.directory.write("again.ndjson", lines);
      await expect(loading.upload("users", id, source, { ...options, rejectsFile: link })).rejects.toThrow(
        /is a link to .* rejected records of an earlier upload/,
      );
      expect(readFileSync(rejectsFile, "utf8")).toBe(archived);
    }
  });

  test("is replaced through a link, and the link stays", async () => {
    const { id, source, options, rejectsFile } = await rejected();
    const link = linked(`link-${id}.ndjson`, () => symlinkSync(rejectsFile, at(`link-${id}.ndjson`)));
    loading.directory.write("again.ndjson", content);
    await loading.upload("users", id, source, { ...options, rejectsFile: link });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(rejectsFile, "utf8").split("\n")).toHaveLength(2);
  });
});

test("a glob does not match a rejects file of any name, and a second run finds no change", async () => {
  const id = await loading.dataset("users");
  loading.directory.write("globbed-1.ndjson", content);
  const glob = at("globbed-*.ndjson");
  const rejectsFile = at("globbed-rejects.ndjson");
  const options = { rejectsFile, maxFailures: 1 };
  expect(await loading.upload("users", id, glob, options)).toMatchObject({ calls: 1, failedCount: 1 });
  expect(existsSync(rejectsFile)).toBe(true);
  expect(await findFiles(glob)).toHaveLength(1);
  expect(await loading.upload("users", id, glob, options)).toMatchObject({ calls: 0, failedCount: 1 });
  expect(readFileSync(rejectsFile, "utf8")).toContain('"line":3');
});

test("an import keeps the rejects file of a source with the same name in another directory", async () => {
  const id = await loading.dataset("users");
  const rejectsFiles = () => readdirSync(at(".")).filter((name) => name.startsWith("recommender-rejects-"));
  const before = rejectsFiles();
  const importOf = (source: string) =>
    runCommand(loading, ["import", "users", source, "--dataset", id, "--max-failures", "9"]);
  for (const directory of ["one", "two"]) mkdirSync(at(directory));
  writeFileSync(at("one/people.ndjson"), content);
  writeFileSync(at("two/people.ndjson"), userLines(5, 7));
  expect(await importOf("one/people.ndjson")).toMatchObject({ code: 0 });
  const [kept = "", ...more] = rejectsFiles().filter((name) => !before.includes(name));
  expect(more).toEqual([]);
  expect(await importOf("two/people.ndjson")).toMatchObject({ code: 0 });
  expect(rejectsFiles()).toContain(kept);
});

test("the default name of a rejects file has its extension once", () => {
  expect(rejectsFileForSource("people.ndjson")).toBe("recommender-rejects-people.ndjson");
  expect(rejectsFileForSource("./people.csv")).toBe("recommender-rejects-people.csv.ndjson");
});
