import { Client } from "pg";
import { startPostgres } from "../tools/postgres/start.js";
import { goal, report } from "./report/report";
import { newDatabase } from "./service/database";
import { generateEvents, type WireEvent } from "./service/events";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { users: 6040, items: 3700, events: Math.round(400_000 * scale), shards: 10 };
const turns = 7;
const writers = 4;
const rowsPerStatement = 1000;
const reads = Math.round(4000 * scale);

/** The two table layouts for events in PostgreSQL: one table, or one partition for each shard. */
const layouts = {
  one: ["events"],
  // Partitions depend on the event id. If they depended on the user, an event that changes its user would exist twice.
  partitioned: Array.from({ length: shape.shards }, (_, at) => `events_${at}`),
};

async function main(): Promise<void> {
  const postgres = await startPostgres({ durable: true });
  try {
    const events = generateEvents(shape);
    const database = await newDatabase(postgres.url, "layout");
    const runs: Record<keyof typeof layouts, Figures>[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const one = await measure(database, "one", events);
      runs.push({ one, partitioned: await measure(database, "partitioned", events) });
    }
    // The median ratio of consecutive runs. A shared disk is slow for minutes, so it affects both runs of a pair.
    const ratioOf = (figure: keyof Figures) =>
      median(runs.map(({ one, partitioned }) => partitioned[figure] / one[figure]));
    const ratios = {
      upsertsInPartitions: ratioOf("rowsPerSecond"),
      rewritesInPartitions: ratioOf("rewrittenPerSecond"),
      readsInPartitions: ratioOf("readMs"),
      vacuumOfPartitions: ratioOf("vacuumSeconds"),
    };
    report("layout", {
      ratios,
      // The reason for one table: partitions are at most 20 % better in every figure.
      goals: [
        goal("upserts into partitions / into one table", "<", 1.2, ratios.upsertsInPartitions),
        goal("upserts of the same events again, the same", "<", 1.2, ratios.rewritesInPartitions),
        goal(
          "time of vacuum after that, partitions at once / one table",
          ">",
          0.8,
          ratios.vacuumOfPartitions,
        ),
        goal("time of reading a user from partitions / from one table", ">", 0.8, ratios.readsInPartitions),
      ],
      absolute: { runs },
      shape,
    });
  } finally {
    await postgres.stop();
  }
}

interface Figures {
  readonly rowsPerSecond: number;
  readonly rewrittenPerSecond: number;
  readonly vacuumSeconds: number;
  readonly readMs: number;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

async function measure(
  server: string,
  layout: keyof typeof layouts,
  events: readonly WireEvent[],
): Promise<Figures> {
  const clients = await Promise.all(
    Array.from({ length: writers }, async () => {
      const client = new Client(server);
      await client.connect();
      return client;
    }),
  );
  const client = clients[0] as Client;
  await client.query("drop table if exists events");
  await client.query(
    `create table events (
      seq bigint generated always as identity, dataset integer not null, event_id text collate "C" not null,
      user_id text collate "C" not null, item_id text collate "C" not null, ts bigint not null,
      event_type text not null, event_value double precision not null, attributes text not null,
      primary key (dataset, event_id))${layout === "one" ? "" : " partition by hash (event_id)"};
    ${layout === "one" ? "" : layouts[layout].map(partition).join(" ")}
    create index on events (dataset, user_id) include (event_type, item_id, event_value, seq)`,
  );
  const writeAll = () => {
    let next = 0;
    return timed(() =>
      eachAtOnce(clients, async (each) => {
        while (next < events.length) {
          const from = next;
          next += rowsPerStatement;
          await upsert(each, layout, events.slice(from, from + rowsPerStatement));
        }
      }),
    );
  };
  const writeSeconds = await writeAll();
  await client.query("vacuum analyze events");
  const rewriteSeconds = await writeAll();
  const parts = [...layouts[layout]];
  const vacuumSeconds = await timed(() =>
    eachAtOnce(clients, async (each) => {
      for (let part = parts.pop(); part; part = parts.pop()) await each.query(`vacuum analyze ${part}`);
    }),
  );
  const readSeconds = await timed(async () => {
    for (let at = 0; at < reads; at++) await read(client, layout, `u${(at * 7919) % shape.users}`);
  });
  await Promise.all(clients.map((each) => each.end()));
  return {
    rowsPerSecond: events.length / writeSeconds,
    rewrittenPerSecond: events.length / rewriteSeconds,
    readMs: (readSeconds * 1000) / reads,
    vacuumSeconds,
  };
}

function partition(name: string, at: number): string {
  return `create table ${name} partition of events for values with (modulus ${shape.shards}, remainder ${at});`;
}

async function eachAtOnce(
  clients: readonly Client[],
  work: (client: Client) => Promise<void>,
): Promise<void> {
  await Promise.all(clients.map(work));
}

async function upsert(client: Client, name: string, batch: readonly WireEvent[]): Promise<void> {
  const rows = [...batch].sort((a, b) => (a.event_id < b.event_id ? -1 : 1));
  await client.query({
    name: `upsert-${name}`,
    text: `insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
      select 1, *, '{}' from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::double precision[])
      on conflict (dataset, event_id) do update set seq = default, event_value = excluded.event_value`,
    values: (["event_id", "user_id", "item_id", "ts", "event_type", "event_value"] as const).map((key) =>
      rows.map((row) => row[key]),
    ),
  });
}

async function read(client: Client, name: string, user: string): Promise<void> {
  await client.query({
    name: `read-${name}`,
    text: `select json_agg(json_build_array(item_id, value)) from (
      select item_id, sum(event_value) as value from events
      where dataset = 1 and user_id = $1 and event_type = 'watch' group by item_id) as pairs`,
    values: [user],
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
