import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { closestMatch } from "../../contract/messages";
import { shortened } from "../base/error";
import { newId } from "../base/id";
import { expandScopes } from "../base/scopes";
import type { Db, Store } from "./database";
import type { ClientTable } from "./tables";

/** Who makes a call, and what it may do. */
export interface Client {
  /** What tokens name it by; another one where a name is given again. */
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdTs: number;
}

/** What the log calls those who show the service's own key. */
export const keyName = "key";

/** Names go into Basic authentication, logs and commands as they are. */
const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** The clients of a service beside the holders of its key; all of its processes heed a change at their next call. */
export class Clients {
  constructor(private readonly store: Store) {}

  /** Adds a client; the secret cannot be had again. */
  async add(name: string, scopeWords: readonly string[]): Promise<Client & { readonly secret: string }> {
    checkName(name);
    const scopes = expandScopes(scopeWords);
    const id = newId("client");
    const secret = newSecret(id);
    const createdTs = Date.now();
    await this.store.exclusively(async (db) => {
      if (await findByName(db, name))
        throw new Error(
          `There is a client ${name} already. Change its scopes with \`recommender clients update ${name}\`, ` +
            `or give it a new secret: \`recommender clients revoke ${name}\`, and add it again.`,
        );
      await db
        .insertInto("clients")
        .values({
          id,
          name,
          secret_hash: hashOf(secret).toString("hex"),
          scopes: scopes.join(" "),
          created_ts: createdTs,
        })
        .execute();
    });
    return { id, name, scopes, createdTs, secret };
  }

  /** All clients by name. */
  async list(): Promise<Client[]> {
    const rows = await this.store.db.selectFrom("clients").selectAll().orderBy("name").execute();
    return rows.map(clientIn);
  }

  /** Gives a client other scopes; its secret stays. */
  async update(name: string, scopeWords: readonly string[]): Promise<Client> {
    const scopes = expandScopes(scopeWords);
    return this.store.exclusively(async (db) => {
      const found = await existing(db, name);
      await db
        .updateTable("clients")
        .set({ scopes: scopes.join(" ") })
        .where("id", "=", found.id)
        .execute();
      return { ...clientIn(found), scopes };
    });
  }

  /** Removes a client, so that neither its secret nor any of its tokens is taken any more. */
  async revoke(name: string): Promise<Client> {
    return this.store.exclusively(async (db) => {
      const found = await existing(db, name);
      await db.deleteFrom("clients").where("id", "=", found.id).execute();
      return clientIn(found);
    });
  }
}

/** The client whose secret this is, as the store has it now. */
export async function clientOf(db: Db, secret: string): Promise<Client | undefined> {
  const id = clientIdIn(secret);
  if (id === undefined) return undefined;
  const { rows } = await sql<
    Selectable<ClientTable>
  >`/* client */ select id, name, secret_hash, scopes, created_ts from clients where id = ${id}`.execute(db);
  const [row] = rows;
  const isItsOwn = row && timingSafeEqual(hashOf(secret), Buffer.from(row.secret_hash, "hex"));
  return isItsOwn ? clientIn(row) : undefined;
}

/** The client that a secret claims to be of; nothing where it is not of a client's shape. */
export function clientIdIn(secret: string): string | undefined {
  const [, digits] = /^rc_([0-9a-f]{20})_[\w-]{43}$/.exec(secret) ?? [];
  return digits === undefined ? undefined : `client-${digits}`;
}

function newSecret(id: string): string {
  return `rc_${id.replace("client-", "")}_${randomBytes(32).toString("base64url")}`;
}

/** A fast hash is enough: nobody can try out 256 random bits, and it is made anew for each call. */
function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function clientIn({ id, name, scopes, created_ts }: Selectable<ClientTable>): Client {
  return { id, name, scopes: scopes.split(" "), createdTs: created_ts };
}

function findByName(db: Db, name: string): Promise<Selectable<ClientTable> | undefined> {
  return db.selectFrom("clients").selectAll().where("name", "=", name).executeTakeFirst();
}

async function existing(db: Db, name: string): Promise<Selectable<ClientTable>> {
  const found = await findByName(db, name);
  if (found) return found;
  const others = await db.selectFrom("clients").select("name").orderBy("name").execute();
  const meant = closestMatch(
    name,
    others.map((other) => other.name),
  );
  throw new Error(
    `There is no client ${JSON.stringify(shortened(name))}${meant === undefined ? "." : `; did you mean ${meant}?`} ` +
      "`recommender clients list` shows all.",
  );
}

function checkName(name: string): void {
  if (!namePattern.test(name))
    throw new Error(
      `${JSON.stringify(shortened(name))} cannot be the name of a client: it has 1 to 64 lower-case letters, digits, dots, ` +
        "dashes and underscores, and begins with a letter or digit.",
    );
  if (name === keyName)
    throw new Error(
      `A client cannot be called ${keyName}: so the log calls those who show the service's own key.`,
    );
}
