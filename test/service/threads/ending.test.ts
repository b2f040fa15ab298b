import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { endThread, startThread } from "../../../service/base/native-calls";
import { connect } from "../../../service/store/database";

const directory = mkdtempSync(join(tmpdir(), "ending-"));
afterAll(() => rmSync(directory, { recursive: true }));

// libsql aborts the process if a thread is terminated while it builds the rows of a result.
test("a thread that reads the database ends without ending the process, also if it is ended twice", async () => {
  const database = join(directory, "database.sqlite");
  const db = connect(database, { writes: true });
  await sql`create table filler as
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2000)
    select n, 'a text' as text from numbers`.execute(db);
  for (let round = 0; round < 30; round++) {
    const thread = startThread(require.resolve("./reading-thread.js"), { workerData: { database } });
    await once(thread, "message");
    const exited = once(thread, "exit");
    await Promise.all([endThread(thread), endThread(thread)]);
    await exited;
  }
  await db.destroy();
});
