import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startService } from "../../../service";
import { exportService } from "../../../service/backup/export";
import { restoreService } from "../../../service/backup/restore";
import { newDatabase } from "../database";

const dir = mkdtempSync(join(tmpdir(), "starting-"));
afterAll(() => rmSync(dir, { recursive: true }));

test("a restore is rejected while a process of the database is starting", async () => {
  const data = { dataDir: join(dir, "data") };
  await (await startService({ ...data, log: "none" })).close();
  await exportService(data, join(dir, "backup"), () => undefined);
  const database = await newDatabase();
  const admin = new Client({ connectionString: database.url });
  await admin.connect();
  // After the start has opened the database, it waits for this lock.
  await admin.query("begin; lock table files in access exclusive mode");
  const starting = startService({ log: "none", store: database.url, key: "rk_the-key-of-the-start" });
  const waits = async () =>
    (await admin.query("select from pg_locks where relation = 'files'::regclass and not granted")).rowCount;
  while (!(await waits()));
  const restored = restoreService(
    { dataDir: dir, store: database.url },
    join(dir, "backup"),
    () => undefined,
  );
  await expect(restored).rejects.toThrow(/is in use by process-\w+ \(all\)/);
  await admin.query("commit");
  await (await starting).close();
  await admin.end();
  await database.drop();
});
