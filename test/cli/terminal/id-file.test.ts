import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readIdFile } from "../../../cli/terminal/id-file";

test("an id file of a Windows editor has the same ids", () => {
  const directory = mkdtempSync(join(tmpdir(), "id-file-"));
  const file = join(directory, "users.txt");
  writeFileSync(file, "\uFEFFada\r\n eve \r\n\r\n");
  expect(readIdFile(file)).toEqual(["ada", " eve "]);
  rmSync(directory, { recursive: true });
});
