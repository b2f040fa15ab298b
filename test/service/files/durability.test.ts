import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { connect } from "../../../service/store/database";

const directory = mkdtempSync(join(tmpdir(), "durability-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Returns a setting of a database that was opened on the given platform. */
async function settingOn(platform: string, name: string): Promise<unknown> {
  const before = process.platform;
  Object.defineProperty(process, "platform", { value: platform });
  const db = connect(join(directory, `${platform}.sqlite`));
  try {
    const { rows } = await sql<Record<string, unknown>>`PRAGMA ${sql.raw(name)}`.execute(db);
    return rows[0]?.[name];
  } finally {
    Object.defineProperty(process, "platform", { value: before });
    await db.destroy();
  }
}

test("a commit waits until the disk has stored it, on macOS with a flush of the disk's cache", async () => {
  // 2 means FULL.
  expect(await settingOn("linux", "synchronous")).toBe(2);
  expect(await settingOn("linux", "fullfsync")).toBe(0);
  for (const name of ["fullfsync", "checkpoint_fullfsync"]) expect(await settingOn("darwin", name)).toBe(1);
});
