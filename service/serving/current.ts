import { CompiledQuery } from "kysely";
import { ServiceError } from "../base/error";
import { type Db, retryConflicts } from "../store/database";
import type { ProjectData } from "../store/project-data";

/** The values in the database that recommendations depend on. Other processes may change them at any time. */
export interface Current {
  /** The job of the current deployment, or null if it was shut down. */
  readonly jobId: string | null;
  /** Whether other projects are deployed as well. */
  readonly hasOthers: boolean;
  /** Number of upserts of items. */
  readonly itemChanges: number;
  /** The event dataset's count of deletions, or null if the dataset was deleted. */
  readonly deletions: number | null;
  /** Like `deletions`, but not null if the event dataset was deleted, because users can still be forgotten then. */
  readonly forgettings: number | null;
  /**
   * Fingerprint of the user's events that the models use. Each write assigns a new `seq`, so every write changes the
   * fingerprint.
   */
  readonly stamp: string;
  /** Item ids and values of these events, as JSON lists. Null if the caller already knows the stamp. */
  readonly events: string | null;
}

/**
 * Returns the statement that reads `Current` for several users. It scans the covering index once per user for both the
 * stamp and the events. If the models use several event types, the event types are a third list. If a model uses
 * times, they are the fourth list, and the statement also reads the table.
 */
function statement(name: string, types: "one" | "several", times = false): string {
  const ofType = { one: "= $5::text", several: "= any($5::text[])" }[types];
  const [typesJson, typesArray] = {
    one: [times ? ", null" : "", ""],
    several: [", to_json(event_types)", ", coalesce(array_agg(event_type), '{}') as event_types"],
  }[types];
  const json = times ? `${typesJson}, to_json(times)` : typesJson;
  const array = times ? `${typesArray}, coalesce(array_agg(ts), '{}') as times` : typesArray;
  return `/* ${name} */ select
  (select job_id from deployments where project_id = $1) as "jobId",
  exists (select from deployments where project_id <> $1) as "hasOthers",
  (select changes from datasets where number = $2::int) as "itemChanges",
  (select deletions from datasets where number = $3::int and kind = 'event') as deletions,
  (select deletions from datasets where id = (select event_dataset_id from projects where id = $1)) as forgettings,
  stamp,
  case when stamp <> known then json_build_array(to_json(items), to_json(event_values)${json})::text end as events
  from unnest($4::text[], $6::text[]) with ordinality as asked (asked_user, known, place)
  cross join lateral (
    select count(*) || ':' || coalesce(bit_xor(hashint8extended(seq, 0)), 0) as stamp,
      coalesce(array_agg(item_id), '{}') as items, coalesce(array_agg(event_value), '{}') as event_values${array}
    from events where dataset = $3::int and user_id = asked_user and event_type ${ofType}
  ) as walked order by place`;
}

/** Reads the current events of a user for models that use only target events. */
export const currentStatement = statement("current", "one");
const currentOfTypes = statement("currentOfTypes", "several");
const currentTimes = statement("currentTimes", "one", true);
const currentTimesOfTypes = statement("currentTimesOfTypes", "several", true);

/** A user to read, and the stamp of the user's cached events. */
interface User {
  readonly userId: string;
  readonly knownStamp: string;
}

/** Returns the parameters of the statement. */
export function parametersOf(
  projectId: string,
  { items, events, targetEventType }: ProjectData,
  users: readonly User[],
): unknown[] {
  const [ids, stamps] = [users.map(({ userId }) => userId), users.map(({ knownStamp }) => knownStamp)];
  return [projectId, items.number, events.number, ids, targetEventType, stamps];
}

interface Asked extends User {
  resolve(current: Current): void;
  reject(error: unknown): void;
}

/** Maximum number of statements that run at the same time. */
const maxStatements = 2;

/** Maximum number of users that one statement reads. */
const maxUsers = 64;

/** Maximum number of users that wait for a statement. Even an overloaded database reads this many within seconds. */
const maxWaiting = 4096;

/**
 * Reads `Current` for users. Calls that arrive while statements are running wait and share the next one, because one
 * more user costs less than one more statement.
 */
export class CurrentReader {
  private readonly waiting: Asked[] = [];
  private reading = 0;

  constructor(
    private readonly db: Db,
    private readonly projectId: string,
    private readonly data: ProjectData,
    private readonly otherTypes: readonly string[],
    private readonly withTimes = false,
  ) {}

  /** Reads the current values for a user. Includes the events only if their stamp differs from `knownStamp`. */
  read(userId: string, knownStamp: string): Promise<Current> {
    if (this.waiting.length >= maxWaiting)
      return Promise.reject(
        new ServiceError(
          "UNAVAILABLE",
          "The database cannot keep up with the calls. Call again in a second.",
          {
            headers: { "retry-after": "1" },
          },
        ),
      );
    return new Promise((resolve, reject) => {
      this.waiting.push({ userId, knownStamp, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    if (this.reading === maxStatements || this.waiting.length === 0) return;
    this.reading++;
    void this.readFor(this.waiting.splice(0, maxUsers)).then(() => {
      this.reading--;
      this.next();
    });
  }

  private async readFor(asked: readonly Asked[]): Promise<void> {
    try {
      const { rows } = await retryConflicts(() => this.db.executeQuery(this.query(asked)));
      for (const [at, { resolve }] of asked.entries()) resolve(rows[at] as Current);
    } catch (error) {
      // One of the user ids may be invalid. The other users can still be read.
      if (asked.length > 1 && isOfData(error)) for (const one of asked) await this.readFor([one]);
      // After any other error, reading the users one by one would only add to the load of the database.
      else for (const { reject } of asked) reject(error);
    }
  }

  private query(asked: readonly User[]): CompiledQuery {
    const parameters = parametersOf(this.projectId, this.data, asked);
    const { otherTypes, withTimes } = this;
    if (otherTypes.length === 0)
      return CompiledQuery.raw(withTimes ? currentTimes : currentStatement, parameters);
    parameters[4] = [parameters[4], ...otherTypes];
    return CompiledQuery.raw(withTimes ? currentTimesOfTypes : currentOfTypes, parameters);
  }
}

/** Whether PostgreSQL rejected a parameter (SQLSTATE class 22). */
function isOfData(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code ?? "").startsWith("22");
}
