import {
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataDirectoryAt } from "../../../service/files/data-directory";
import { createCopiesDirectory } from "../../../service/files/left-behind";
import { lockDataDirectory } from "../../../service/files/lock";

test("a process deletes the copies of killed processes only", () => {
  const parent = mkdtempSync(join(tmpdir(), "left-"));
  const made = (name: string) => {
    const path = join(parent, name);
    mkdirSync(join(path, "copies"), { recursive: true });
    writeFileSync(join(path, "lock"), "");
    return path;
  };
  const [killed, alive, starting, data] = [
    ...[made("recommender-copies-aaaaaa"), made("recommender-copies-bbbbbb")],
    ...[made("recommender-copies-cccccc"), made("recommender-dddddd")],
  ] as [string, string, string, string];
  const elsewhere = mkdtempSync(join(tmpdir(), "elsewhere-"));
  const link = join(parent, "recommender-copies-eeeeee");
  symlinkSync(elsewhere, link);
  lutimesSync(link, 0, 0);
  utimesSync(elsewhere, 0, 0);
  const unlock = lockDataDirectory(dataDirectoryAt(alive));
  const before = Date.now() / 1000 - 3600;
  for (const path of [killed, alive, data]) utimesSync(path, before, before);
  const own = createCopiesDirectory(parent);
  expect(readdirSync(elsewhere)).toEqual([]);
  expect([killed, alive, starting, data, own].map((path) => existsSync(path))).toEqual([
    ...[false, true, true, true, true],
  ]);
  unlock();
  for (const directory of [parent, elsewhere]) rmSync(directory, { recursive: true });
});
