import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** A new database of a server, whatever others it has. */
export async function newDatabase(server: string, name: string): Promise<string> {
  const own = `${name}_${randomBytes(4).toString("hex")}`;
  const client = new Client(server);
  await client.connect();
  await client.query(`create database ${own}`);
  await client.end();
  return Object.assign(new URL(server), { pathname: `/${own}` }).href;
}
