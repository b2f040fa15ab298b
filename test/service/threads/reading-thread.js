const path = require("node:path");
const { parentPort, workerData } = require("node:worker_threads");
const { Kysely, sql } = require("kysely");
const { sqlite } = require(path.join(__dirname, "../../../dist/service/store/sqlite.js"));

const db = new Kysely({ dialect: sqlite(workerData.database) });

/** Reads all rows, again and again. */
async function read() {
  for (;;) await sql`select * from filler`.execute(db);
}

parentPort?.postMessage("reading");
void read();
