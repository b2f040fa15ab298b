import { timingSafeEqual } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { closestMatch } from "../../contract/messages";
import { shortened } from "../base/error";
import { newId } from "../base/id";
import { expandScopes } from "../base/scopes";
import { hashSecret, newSecret } from "../base/secret";
import type { Db, Store } from "./database";
import { type PageAccess, type PageSettings, pageAccess, pageScopes } from "./page-access";
import { prepared } from "./prepared";
import type { ClientTable } from "./tables";

/** A caller of the API and its permissions. */
export interface Client {
  /** Identifies the client in tokens. A client that is removed and added again under the same name gets a new id. */
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdTs: number;
  /** What web pages may do with the key, if this is a public key. */
  readonly pages?: PageAccess;
}

/** A client whose secret is a public key: web pages contain it. */
export type PublicKey = Client & { readonly pages: PageAccess };

/** Name in the log for callers that use the key of the service. */
export const keyName = "key";

/** Valid client names. They need no escaping in Basic authentication, logs and commands. */
const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** The API clients of a service. Every process applies a change from its next call on. */
export class Clients {
  constructor(private readonly store: Store) {}

  /** Adds a client. The secret is returned only once. */
  async add(name: string, scopeWords: readonly string[]): Promise<Client & { readonly secret: string }> {
    const scopes = expandScopes(scopeWords);
    return this.insert(name, "rc", async () => ({ scopes }));
  }

  /** Adds a client for web pages. Its secret, the public key, is returned only once, too. */
  async addPublic(name: string, settings: PageSettings): Promise<PublicKey & { readonly secret: string }> {
    return this.insert(name, "rp", async (db) => ({
      scopes: pageScopes,
      pages: await pageAccess(db, settings),
    }));
  }

  private async insert<T extends Pick<Client, "scopes" | "pages">>(
    name: string,
    prefix: "rc" | "rp",
    allowed: (db: Db) => Promise<T>,
  ) {
    checkName(name);
    const id = newId("client");
    const secret = `${prefix}_${id.replace("client-", "")}_${newSecret(32)}`;
    const createdTs = Date.now();
    return this.store.exclusively(async (db) => {
      if (await findByName(db, name))
        throw new Error(
          `The client ${name} already exists. To change what it may do, run \`recommender clients update ${name}\`. ` +
            `For a new secret, run \`recommender clients revoke ${name}\` and add it again.`,
        );
      const may = await allowed(db);
      await db
        .insertInto("clients")
        .values({
          id,
          name,
          secret_hash: hashSecret(secret),
          scopes: may.scopes.join(" "),
          created_ts: createdTs,
          pages: may.pages ? JSON.stringify(may.pages) : null,
        })
        .execute();
      return { id, name, ...may, createdTs, secret };
    });
  }

  /** Returns all clients in the order of their names. */
  async list(): Promise<Client[]> {
    const rows = await this.store.db.selectFrom("clients").selectAll().orderBy("name").execute();
    return rows.map(clientIn);
  }

  /** Replaces the scopes of a client. Its secret stays valid. */
  async update(name: string, scopeWords: readonly string[]): Promise<Client> {
    const scopes = expandScopes(scopeWords);
    return this.store.exclusively(async (db) => {
      const found = await existing(db, name);
      if (found.pages !== null)
        throw new Error(
          `The client ${name} is a public key, which can only recommend items. For other scopes, add another client.`,
        );
      await db
        .updateTable("clients")
        .set({ scopes: scopes.join(" ") })
        .where("id", "=", found.id)
        .execute();
      return { ...clientIn(found), scopes };
    });
  }

  /** Changes some settings of a public key. The key stays valid. */
  async updatePublic(name: string, changes: Partial<PageSettings>): Promise<Client> {
    return this.store.exclusively(async (db) => {
      const found = clientIn(await existing(db, name));
      if (!found.pages)
        throw new Error(`The client ${name} is not a public key. Change its scopes, or add a public key.`);
      const pages = await pageAccess(db, { ...found.pages, ...changes });
      await db
        .updateTable("clients")
        .set({ pages: JSON.stringify(pages) })
        .where("id", "=", found.id)
        .execute();
      return { ...found, pages };
    });
  }

  /** Removes a client. Its secret and its tokens stop working. */
  async revoke(name: string): Promise<Client> {
    return this.store.exclusively(async (db) => {
      const found = await existing(db, name);
      await db.deleteFrom("clients").where("id", "=", found.id).execute();
      return clientIn(found);
    });
  }
}

/** Finds the client of a secret, unless the secret is a public key. */
export async function clientOf(db: Db, secret: string): Promise<Client | undefined> {
  const found = await findBySecret(db, clientIdIn(secret), secret);
  return found?.pages ? undefined : found;
}

/** Finds the client of a public key. */
export async function publicKeyOf(db: Db, secret: string): Promise<PublicKey | undefined> {
  const { pages, ...found } = (await findBySecret(db, publicIdIn(secret), secret)) ?? {};
  return pages && ({ ...found, pages } as PublicKey);
}

async function findBySecret(db: Db, id: string | undefined, secret: string): Promise<Client | undefined> {
  if (id === undefined) return undefined;
  const { rows } = await sql<
    Selectable<ClientTable>
  >`${prepared("client")} select id, name, secret_hash, scopes, created_ts, pages from clients where id = ${id}`.execute(
    db,
  );
  const [row] = rows;
  const isCorrect = row && timingSafeEqual(Buffer.from(hashSecret(secret)), Buffer.from(row.secret_hash));
  return isCorrect ? clientIn(row) : undefined;
}

/** Returns the id of the client that a secret claims to belong to; undefined if it is not a client's secret. */
export function clientIdIn(secret: string): string | undefined {
  return idIn(/^rc_([0-9a-f]{20})_[\w-]{43}$/, secret);
}

/** Returns the id of the client that a public key claims to belong to; undefined if it is not a public key. */
export function publicIdIn(secret: string): string | undefined {
  return idIn(/^rp_([0-9a-f]{20})_[\w-]{43}$/, secret);
}

function idIn(format: RegExp, secret: string): string | undefined {
  const [, digits] = format.exec(secret) ?? [];
  return digits === undefined ? undefined : `client-${digits}`;
}

function clientIn({ id, name, scopes, created_ts, pages }: Selectable<ClientTable>): Client {
  const client = { id, name, scopes: scopes.split(" "), createdTs: created_ts };
  if (pages === null) return client;
  // Ignore the scopes in the table, because an earlier version of the CLI could add some to a public key.
  return { ...client, scopes: pageScopes, pages: JSON.parse(pages) };
}

function findByName(db: Db, name: string): Promise<Selectable<ClientTable> | undefined> {
  return db.selectFrom("clients").selectAll().where("name", "=", name).executeTakeFirst();
}

async function existing(db: Db, name: string): Promise<Selectable<ClientTable>> {
  const found = await findByName(db, name);
  if (found) return found;
  const others = await db.selectFrom("clients").select("name").orderBy("name").execute();
  const similar = closestMatch(
    name,
    others.map((other) => other.name),
  );
  throw new Error(
    `There is no client ${JSON.stringify(shortened(name))}.${similar === undefined ? "" : ` Did you mean ${similar}?`} ` +
      "`recommender clients list` lists all clients.",
  );
}

function checkName(name: string): void {
  if (!namePattern.test(name))
    throw new Error(
      `${JSON.stringify(shortened(name))} cannot be the name of a client. A name has 1 to 64 lower-case letters, digits, ` +
        "dots, dashes and underscores, and begins with a letter or digit.",
    );
  if (name === keyName)
    throw new Error(
      `A client cannot be named ${keyName}: the log uses this name for callers with the key of the service. Choose another name.`,
    );
}
