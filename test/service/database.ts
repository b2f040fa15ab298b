import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** Storage of the services in this test. jest.config.js lists the tests that run with PostgreSQL. */
export const testStore: "directory" | "postgres" =
  (globalThis as { testStore?: "postgres" }).testStore ?? "directory";

/** Whether each database has two API processes and a worker. Calls then alternate between the API processes. */
export const testTwoApis: boolean = "testTwoApis" in globalThis;

/** A test that applies only to a service with a data directory. */
export const testInDirectory: (name: string, run: () => Promise<void>) => void =
  testStore === "directory" ? test : () => undefined;

/** A test that needs all calls in one process. */
export const testOfOneApi: (name: string, run: () => Promise<void>) => void = testTwoApis
  ? () => undefined
  : test;

/** A test that applies only to PostgreSQL. */
export const testOnPostgres: typeof testInDirectory = testStore === "postgres" ? test : () => undefined;

/** Returns a statement that makes the database reject updates of jobs that meet a condition. */
export const refusal = (condition: string): string =>
  testStore === "directory"
    ? `create trigger refuse before update on jobs when ${condition} begin select raise(abort, 'no'); end`
    : `create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
       create trigger refuse before update on jobs for each row when (${condition}) execute function refuse()`;
export const allowance = testStore === "directory" ? "drop trigger refuse" : "drop trigger refuse on jobs";

/** Creates a database, with the tables of a service or empty. */
export async function newDatabase({ empty = false } = {}): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const template = empty ? "template0" : process.env.TEST_DATABASE_TEMPLATE;
  await onServer(`create database ${name} template ${template} strategy file_copy`);
  const url = new URL(process.env.TEST_DATABASE_URL as string);
  url.pathname = name;
  return { url: url.href, drop: () => onServer(`drop database ${name} with (force)`) };
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: process.env.TEST_DATABASE_URL });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Runs a statement on a database. */
export async function askDatabase<T>(url: string, statement: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query(statement).finally(() => client.end());
  return rows as T[];
}
