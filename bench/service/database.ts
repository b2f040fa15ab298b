import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** Creates a database with a unique name on a server. */
export async function newDatabase(server: string, name: string): Promise<string> {
  const own = `${name}_${randomBytes(4).toString("hex")}`;
  const client = new Client(server);
  await client.connect();
  await client.query(`create database ${own}`);
  await client.end();
  return Object.assign(new URL(server), { pathname: `/${own}` }).href;
}
