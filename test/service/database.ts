import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** Where the tests that run over PostgreSQL keep their data; jest.config.js says which these are. */
export const testStore: "folder" | "postgres" =
  (globalThis as { testStore?: "postgres" }).testStore ?? "folder";

/** Whether two API processes and a worker serve each database, and a caller goes from one to the other at every call. */
export const testTwoApis: boolean = "testTwoApis" in globalThis;

/** A test of what only a service in a folder has. */
export const testInFolder: (name: string, run: () => Promise<void>) => void =
  testStore === "folder" ? test : () => undefined;

/** A test of what one process counts to the last call, or that reaches into the memory of the service. */
export const testOfOneApi: (name: string, run: () => Promise<void>) => void = testTwoApis
  ? () => undefined
  : test;

/** A test of what only several processes over one database have. */
export const testOnPostgres: typeof testInFolder = testStore === "postgres" ? test : () => undefined;

/** Has the database refuse a change of a job where the condition holds, until the trigger `refuse` is dropped. */
export const refusal = (condition: string): string =>
  testStore === "folder"
    ? `create trigger refuse before update on jobs when ${condition} begin select raise(abort, 'no'); end`
    : `create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
       create trigger refuse before update on jobs for each row when (${condition}) execute function refuse()`;
export const allowance = testStore === "folder" ? "drop trigger refuse" : "drop trigger refuse on jobs";

/** A new database of the server that the set-up has started, with the tables that a service makes, or an empty one. */
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

/** Asks the database itself. */
export async function askDatabase<T>(url: string, statement: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query(statement).finally(() => client.end());
  return rows as T[];
}
