import { sql } from "kysely";
import { routes } from "../../contract";
import { ServiceError } from "../base/error";
import { everyScope, scopeGroups } from "../base/scopes";
import { hashSecret, newSecret } from "../base/secret";
import type { ServiceContext } from "../files/service-context";
import { keyName } from "../store/clients";
import type { Db } from "../store/database";
import { timeSql } from "../store/time";

/** A link to the console is valid for a minute, a session for 12 hours. */
const codeMs = 60_000;
const sessionMs = 12 * 60 * 60 * 1000;

/** Whether a session can only read, or also change data. */
export type Access = "read" | "write";

/** A signed-in user of the console, with the scopes of the session. */
export interface Visitor {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly access: Access;
}

/** Scopes that a read-only session keeps: reading, recommendations, and questions about users. */
const readOnlyScopes: ReadonlySet<string> = new Set([
  ...(scopeGroups.read ?? []),
  ...(scopeGroups.recommend ?? []),
  ...(scopeGroups.metrics ?? []),
  routes.submitQueryingJob.path,
  routes.submitClusteringJob.path,
]);

/**
 * Opens, checks and ends console sessions. They are stored in the database, so every process of the service accepts
 * them.
 */
export class Sessions {
  constructor(private readonly context: Pick<ServiceContext, "store" | "clock">) {}

  /** Creates a code that opens one session. */
  async newCode(clientId: string | undefined, access: Access): Promise<{ code: string; validSec: number }> {
    const code = newSecret();
    await this.context.store.exclusively(async (db) => {
      const now = this.nowIn(db);
      await db.deleteFrom("console_sessions").where("expires_ts", "<=", now).execute();
      await db
        .insertInto("console_sessions")
        .values({
          id: hashSecret(code),
          token_hash: null,
          client_id: clientId ?? null,
          access,
          expires_ts: sql<number>`${now} + ${sql.lit(codeMs)}`,
        })
        .execute();
    });
    return { code, validSec: codeMs / 1000 };
  }

  /** Opens a session with a one-time code. Servers at other ports of the host receive the cookie, but not the token. */
  async open(code: string) {
    const [cookie, token] = [newSecret(), newSecret()];
    await this.context.store.exclusively(async (db) => {
      const now = this.nowIn(db);
      const link = await db
        .deleteFrom("console_sessions")
        .where("id", "=", hashSecret(code))
        .where("token_hash", "is", null)
        .where("expires_ts", ">", now)
        .returningAll()
        .executeTakeFirst();
      if (!link)
        throw notSignedIn(
          "This link was already used or is older than a minute. Run `recommender open` again.",
        );
      await db
        .insertInto("console_sessions")
        .values({
          ...link,
          id: hashSecret(cookie),
          token_hash: hashSecret(token),
          expires_ts: sql<number>`${now} + ${sql.lit(sessionMs)}`,
        })
        .execute();
    });
    return { cookie, token, maxAgeSec: sessionMs / 1000 };
  }

  /** Returns the user of a session. Both the cookie and the token are required. */
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
            .where("console_sessions.id", "in", cookies.map(hashSecret))
            .where("token_hash", "=", hashSecret(token))
            .executeTakeFirst();
    const isOpen =
      session !== undefined &&
      // A session ends when its client is revoked.
      (session.client_id === null || session.name !== null);
    if (!isOpen) throw notSignedIn("You are not signed in. Run `recommender open`.");
    const scopes = session.client_id === null ? [...everyScope] : (session.scopes as string).split(" ");
    return {
      name: session.name ?? keyName,
      scopes: session.access === "write" ? scopes : scopes.filter((scope) => readOnlyScopes.has(scope)),
      access: session.access,
    };
  }

  private nowIn(db: Db) {
    return timeSql(db, this.context.clock.now());
  }

  /** Ends a session. */
  async end(token: string): Promise<void> {
    await this.context.store.exclusively((db) =>
      db.deleteFrom("console_sessions").where("token_hash", "=", hashSecret(token)).execute(),
    );
  }
}

/** Throws if a session lacks a scope. The error contains the command that grants it. */
export function requireScope({ name, scopes, access }: Visitor, scope: string): void {
  if (scopes.includes(scope)) return;
  throw new ServiceError(
    "FORBIDDEN",
    access === "read" && !readOnlyScopes.has(scope)
      ? `This session is read-only, and ${scope} changes data. For write access, run \`recommender open --write\`.`
      : `The client ${name} does not have the scope ${scope}. An operator can add it with \`recommender clients update\`.`,
  );
}

function notSignedIn(message: string): ServiceError {
  return new ServiceError("UNAUTHENTICATED", message);
}
