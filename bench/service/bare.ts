import Database from "libsql";
import { openStore } from "../../service/store/database";
import { generateEvents } from "./events";

const rowsPerInsert = 100;
const rowsPerTransaction = 1000;

/** Writes the rows with the driver alone: the service's own tables and settings, no HTTP, no checks, no Kysely. */
async function main([file, count]: string[]): Promise<void> {
  const events = generateEvents({ users: 6040, items: 3700, events: Number(count) });
  await (await openStore(file as string)).close();
  const database = new Database(file as string);
  for (const pragma of [
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "wal_autocheckpoint=32000",
    "cache_size=-65536",
  ]) {
    database.exec(`PRAGMA ${pragma}`);
  }
  const insert = database.prepare(
    `insert into events values ${Array(rowsPerInsert).fill("(?,?,?,?,?,?,?,?,?)").join(",")}`,
  );
  const began = performance.now();
  for (let from = 0; from < events.length; from += rowsPerTransaction) {
    database.exec("BEGIN");
    for (let at = from; at < from + rowsPerTransaction; at += rowsPerInsert) {
      insert.run(
        events
          .slice(at, at + rowsPerInsert)
          .flatMap((event, k) => [
            at + k + 1,
            1,
            event.event_id,
            event.user_id,
            event.item_id,
            event.ts,
            event.event_type,
            event.event_value,
            "{}",
          ]),
      );
    }
    database.exec("COMMIT");
  }
  process.send?.(events.length / ((performance.now() - began) / 1000));
  database.close();
}

void main(process.argv.slice(2)).then(() => process.disconnect());
