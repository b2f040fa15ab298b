import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { routes } from "../../contract";
import { ServiceError } from "../base/error";
import { everyScope, scopeGroups } from "../base/scopes";
import type { Basis } from "../files/basis";
import { keyName } from "../store/clients";
import type { Db } from "../store/database";
import { timeSql } from "../store/time";

/** A link into the console holds for a minute, a session for a working day. */
const [codeMs, sessionMs] = [60_000, 12 * 60 * 60 * 1000];

/** What a session may do: look, or change as well. */
export type Access = "read" | "write";

/** Who looks at the console, and what he may do there. */
export interface Visitor {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly access: Access;
}

/** A session at its beginning, with both of its secrets. */
export interface Opened {
  /** For the HttpOnly cookie. */
  readonly cookie: string;
  /** For the header; the page keeps it for its own origin, since cookies are shared by all ports of a host. */
  readonly token: string;
  readonly maxAgeSec: number;
}

/** What a session may do that was opened for looking: read, recommend, and ask about users. */
const reading: ReadonlySet<string> = new Set([
  ...(scopeGroups.read ?? []),
  ...(scopeGroups.recommend ?? []),
  ...(scopeGroups.metrics ?? []),
  routes.submitQueryingJob.path,
  routes.submitClusteringJob.path,
]);

/** Opens, checks and ends sessions of the console. They lie in the store, so that each process of a service knows them. */
export class Sessions {
  constructor(private readonly context: Pick<Basis, "store" | "clock">) {}

  /** A code that opens one session, once. */
  async newCode(clientId: string | undefined, access: Access): Promise<{ code: string; validSec: number }> {
    const code = newSecret();
    await this.context.store.transaction(async (db) => {
      const now = this.nowIn(db);
      await db.deleteFrom("console_sessions").where("expires_ts", "<=", now).execute();
      await db
        .insertInto("console_sessions")
        .values({
          id: hashOf(code),
          token_hash: null,
          client_id: clientId ?? null,
          access,
          expires_ts: sql<number>`${now} + ${sql.lit(codeMs)}`,
        })
        .execute();
    });
    return { code, validSec: codeMs / 1000 };
  }

  /** Opens a session by a code, which is used up by it. */
  async open(code: string): Promise<Opened> {
    const [cookie, token] = [newSecret(), newSecret()];
    await this.context.store.transaction(async (db) => {
      const now = this.nowIn(db);
      const link = await db
        .deleteFrom("console_sessions")
        .where("id", "=", hashOf(code))
        .where("token_hash", "is", null)
        .where("expires_ts", ">", now)
        .returningAll()
        .executeTakeFirst();
      if (!link)
        throw notSignedIn(
          "This link was used already or is older than a minute; run `recommender open` again.",
        );
      await db
        .insertInto("console_sessions")
        .values({
          ...link,
          id: hashOf(cookie),
          token_hash: hashOf(token),
          expires_ts: sql<number>`${now} + ${sql.lit(sessionMs)}`,
        })
        .execute();
    });
    return { cookie, token, maxAgeSec: sessionMs / 1000 };
  }

  /** Whose session it is; both halves are needed. */
  async visitorOf(cookies: readonly string[], token: string | undefined): Promise<Visitor> {
    const { db } = this.context.store;
    const session =
      cookies.length === 0 || token === undefined
        ? undefined
        : await db
            .selectFrom("console_sessions")
            .leftJoin("clients", "clients.id", "console_sessions.client_id")
            .select(["client_id", "access", "name", "scopes"])
            .where("expires_ts", ">", this.nowIn(db))
            .where("console_sessions.id", "in", cookies.map(hashOf))
            .where("token_hash", "=", hashOf(token))
            .executeTakeFirst();
    const isOpen =
      session !== undefined &&
      // One whose client was revoked ends with it.
      (session.client_id === null || session.name !== null);
    if (!isOpen) throw notSignedIn("You are not signed in; run `recommender open`.");
    const scopes = session.client_id === null ? [...everyScope] : (session.scopes as string).split(" ");
    return {
      name: session.name ?? keyName,
      scopes: session.access === "write" ? scopes : scopes.filter((scope) => reading.has(scope)),
      access: session.access,
    };
  }

  private nowIn(db: Db) {
    return timeSql(db, this.context.clock.now());
  }

  /** Ends a session. */
  async end(token: string): Promise<void> {
    await this.context.store.transaction((db) =>
      db.deleteFrom("console_sessions").where("token_hash", "=", hashOf(token)).execute(),
    );
  }
}

/** Refuses what a visitor may not do. */
export function refuseBeyond({ name, scopes, access }: Visitor, scope: string): void {
  if (scopes.includes(scope)) return;
  throw new ServiceError(
    "FORBIDDEN",
    access === "read" && !reading.has(scope)
      ? `This page was opened for looking only, and ${scope} changes something; open it with \`recommender open --write\`.`
      : `The client ${name} does not have the scope ${scope}; whoever runs the service allows it with \`recommender clients update\`.`,
  );
}

function notSignedIn(message: string): ServiceError {
  return new ServiceError("UNAUTHENTICATED", message);
}

function newSecret(): string {
  return randomBytes(24).toString("base64url");
}

/** A fast hash is enough for 192 random bits. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
