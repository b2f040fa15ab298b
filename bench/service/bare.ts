import Database from "libsql";
import { Client } from "pg";
import { isPostgresUrl } from "../../service/store/address";
import { openStore } from "../../service/store/database";
import { generateEvents, type WireEvent } from "./events";

const rowsPerInsert = 100;
const rowsPerTransaction = 1000;

/** Writes rows with the database driver only: with the service's tables and settings, but without HTTP, checks and Kysely. */
async function main([place = "", count]: string[]): Promise<void> {
  const events = generateEvents({ users: 6040, items: 3700, events: Number(count) });
  await (await openStore(place)).close();
  const seconds = isPostgresUrl(place) ? await intoPostgres(place, events) : intoFile(place, events);
  process.send?.(events.length / seconds);
}

/** The statement of the service, which it runs in a separate transaction for each call. */
async function intoPostgres(url: string, events: readonly WireEvent[]): Promise<number> {
  const client = new Client(url);
  await client.connect();
  const began = performance.now();
  for (let from = 0; from < events.length; from += rowsPerTransaction) {
    const rows = events.slice(from, from + rowsPerTransaction);
    rows.sort((a, b) => (a.event_id < b.event_id ? -1 : 1));
    const all = (key: keyof WireEvent) => rows.map((row) => row[key]);
    await client.query({
      name: "bare",
      text: `insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
        select 1, * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[],
          $6::double precision[], $7::text[])
        on conflict (dataset, event_id) do update set
          seq = default, user_id = excluded.user_id, item_id = excluded.item_id, ts = excluded.ts,
          event_type = excluded.event_type, event_value = excluded.event_value, attributes = excluded.attributes`,
      values: [
        all("event_id"),
        all("user_id"),
        all("item_id"),
        all("ts"),
        all("event_type"),
        all("event_value"),
        rows.map(() => "{}"),
      ],
    });
  }
  await client.end();
  return (performance.now() - began) / 1000;
}

function intoFile(file: string, events: readonly WireEvent[]): number {
  const database = new Database(file);
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
  const seconds = (performance.now() - began) / 1000;
  database.close();
  return seconds;
}

void main(process.argv.slice(2)).then(() => process.disconnect());
