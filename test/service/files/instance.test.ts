import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { startService } from "../../../service";
import { folderAt } from "../../../service/files/folder";
import { instanceIn } from "../../../service/files/instance";

test("a folder tells which data it holds, be it served or not, and nothing of what an older version wrote", async () => {
  const parent = mkdtempSync(join(tmpdir(), "recommender-instance-"));
  const dataDir = join(parent, "data");
  expect(instanceIn(dataDir)).toBe("");
  const service = await startService({ dataDir });
  const instance = instanceIn(dataDir);
  await service.close();
  expect(instance).toMatch(/\S/);
  expect(instanceIn(dataDir)).toBe(instance);
  const database = new Database(folderAt(dataDir).database);
  database.exec("drop table instance");
  database.close();
  expect(instanceIn(dataDir)).toBeUndefined();
  rmSync(parent, { recursive: true });
});
