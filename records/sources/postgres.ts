import type { Client, ClientConfig, QueryConfig } from "pg";
import { SourceError } from "../formats/row";
import type { RemoteSource } from "./remote-source";
import { idleTimeoutMs, timeoutVariable } from "./request";
import type { SourceCopy } from "./source-copy";

/** Number of bytes to have in memory at once. The size of rows decides how many rows that are. */
const bytesPerFetch = 4 * 1024 * 1024;
const maxRowsPerFetch = 5_000;
const connectTimeoutMs = 15_000;
/** Factor for the timeout of sources, because a query may compute for much longer than a web server is silent. */
const queryTimeoutFactor = 10;
const example = "postgres://user@host/database?query=SELECT user_id, country FROM users ORDER BY user_id";

/**
 * Returns a source that is the result of a query: `postgres://user@host/database?query=SELECT …`. The password comes
 * from PGPASSWORD or the password file of PostgreSQL.
 */
export function postgresSource(address: string): RemoteSource {
  const { url, query, displayName } = parsed(address);
  return {
    displayName,
    fileName: "rows.ndjson",
    format: "ndjson",
    // PostgreSQL has no version of a result, so the query runs each time.
    version: async () => undefined,
    async copyTo(copy) {
      await connected({ url, displayName }, (client) => copyRows(client, query, copy));
      return undefined;
    },
  };
}

/** Writes the rows of a query as one JSON object per line. PostgreSQL formats them, so large numbers stay exact. */
async function copyRows(client: Client, query: string, copy: SourceCopy): Promise<void> {
  await client.query("SET TIME ZONE 'UTC'");
  // A snapshot that cannot write: all rows are from the same moment, and a query cannot change data.
  await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
  // The line breaks end a comment at the end of the query.
  const text = `DECLARE source NO SCROLL CURSOR FOR SELECT row_to_json(r)::text AS line FROM (\n${query}\n) AS r`;
  // The extended protocol accepts only one statement.
  const declaration: QueryConfig & { queryMode: "extended" } = { text, queryMode: "extended" };
  await client.query(declaration);
  for (let count = 50; ; ) {
    const { rows } = await client.query<{ line: string }>(`FETCH ${count} FROM source`);
    if (rows.length === 0) break;
    const lines = Buffer.from(rows.map(({ line }) => `${line}\n`).join(""));
    await copy.append(lines);
    const fitting = Math.floor((bytesPerFetch * rows.length) / lines.length);
    // Grows slowly, because the first rows may be smaller than the next ones.
    count = Math.max(1, Math.min(fitting, 2 * count, maxRowsPerFetch));
  }
  await client.query("COMMIT");
}

async function connected(
  { url, displayName }: { readonly url: URL; readonly displayName: string },
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const { Client } = require("pg") as typeof import("pg");
  const config: ClientConfig = {
    connectionString: url.href,
    connectionTimeoutMillis: Math.min(idleTimeoutMs(), connectTimeoutMs),
    query_timeout: queryTimeoutFactor * idleTimeoutMs(),
    application_name: "recommender",
  };
  const client = new Client(config);
  // A lost connection also fails the query, which reports it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await work(client);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(displayName, problemOf(error as NodeJS.ErrnoException, url));
  } finally {
    await client.end().catch(() => undefined);
  }
}

function parsed(address: string): { url: URL; query: string; displayName: string } {
  if (!URL.canParse(address)) throw new Error(`source is not a valid address; expected ${example}`);
  const url = new URL(address);
  const displayName = `${url.protocol}//${url.username ? `${url.username}@` : ""}${url.host}${url.pathname}`;
  if (url.password || url.searchParams.has("password"))
    throw new SourceError(
      displayName,
      "remove the password from the address, so it is not stored or logged; set PGPASSWORD instead",
    );
  const query = (url.searchParams.get("query") ?? "").trim().replace(/(\s*;)+$/, "");
  if (query === "") throw new SourceError(displayName, `has no query; expected ${example}`);
  url.searchParams.delete("query");
  return { url, query, displayName };
}

function problemOf({ code = "", message }: NodeJS.ErrnoException, { host, pathname }: URL): string {
  if (code === "28P01" || code === "28000" || /password must be a string|no password/i.test(message))
    return `does not accept the user or the password (${code || message}); set PGPASSWORD`;
  if (code === "3D000") return `the database ${pathname.slice(1)} does not exist; check the address`;
  if (code === "25006") return "the query would change data; use a query that only reads";
  if (code === "42501") return `the user may not run the query (${message}); grant it the right to read`;
  if (code === "42601") return `the query is not valid SQL (${message}); use one statement that returns rows`;
  if (/^query read timeout$/i.test(message))
    return `sent no rows for ${(queryTimeoutFactor * idleTimeoutMs()) / 1000} s; make the query faster or raise ${timeoutVariable}`;
  if (/^(ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|57P0)/.test(code) || /timeout|terminated/i.test(message))
    return `cannot be read from ${host} (${code || message}); check the address, and that the server is running`;
  return `the query failed: ${message}${code ? ` (${code})` : ""}; run it with psql to see why`;
}
