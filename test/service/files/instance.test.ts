import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { startService } from "../../../service";
import { dataDirectoryAt } from "../../../service/files/data-directory";
import { instanceIn } from "../../../service/files/instance";

test("the instance id of a data directory can be read whether it is served or not, and is unknown for an older version", async () => {
  const parent = mkdtempSync(join(tmpdir(), "recommender-instance-"));
  const dataDir = join(parent, "data");
  expect(instanceIn(dataDir)).toBe("");
  const service = await startService({ dataDir });
  const instance = instanceIn(dataDir);
  await service.close();
  expect(instance).toMatch(/\S/);
  expect(instanceIn(dataDir)).toBe(instance);
  const database = new Database(dataDirectoryAt(dataDir).database);
  database.exec("drop table instance");
  database.close();
  expect(instanceIn(dataDir)).toBeUndefined();
  rmSync(parent, { recursive: true });
});
