import { CompiledQuery } from "kysely";
import { ServiceError } from "../base/error";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";

/** How things stand in a database that other processes write to as well. */
export interface Current {
  /** The job that deployed what is to be served; null where it was shut down. */
  readonly jobId: string | null;
  /** Whether other projects are deployed too. */
  readonly hasOthers: boolean;
  /** How many upserts of items there were. */
  readonly itemChanges: number;
  /** How often events were deleted; null where the event dataset itself was. */
  readonly deletions: number | null;
  /** The same count, which goes on after the event dataset was deleted: users can still be forgotten. */
  readonly forgettings: number | null;
  /** The same as long as the user's target events are: whatever is written has a seq of its own. */
  readonly stamp: string;
  /** A list of the items of the user's target events and one of their values, as JSON; null where the stamp is the one that is known. */
  readonly events: string | null;
}

/**
 * For each user out of the covering index alone and in one walk, which costs less than a second one where the stamp is
 * not known. Where events of several types count, with a list of their types too.
 */
function statement(name: string, types: "one" | "several"): string {
  const ofType = { one: "= $5::text", several: "= any($5::text[])" }[types];
  const [json, array] = {
    one: ["", ""],
    several: [", to_json(event_types)", ", coalesce(array_agg(event_type), '{}') as event_types"],
  }[types];
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

/** The statement of a model that counts its target events alone. */
export const currentStatement = statement("current", "one");
const currentOfTypes = statement("currentOfTypes", "several");

/** For whom is asked, and which stamp is known of him. */
interface User {
  readonly userId: string;
  readonly knownStamp: string;
}

/** What the statement is asked with. */
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

/** Statements at once, and users of one of them. */
const [atOnce, most] = [2, 64];

/** Users who may wait for their turn; an overloaded database answers the last of them within seconds. */
const mostWaiting = 4096;

/**
 * All that an answer depends on beside the models, in one reading; with the events of other types, where some count.
 * Who comes while it is read for others is read for with all who wait too: a statement costs more than a user of it.
 */
export class CurrentReader {
  private readonly waiting: Asked[] = [];
  private reading = 0;

  constructor(
    private readonly db: Db,
    private readonly projectId: string,
    private readonly data: ProjectData,
    private readonly otherTypes: readonly string[],
  ) {}

  /** Reads what the answer for a user depends on. */
  read(userId: string, knownStamp: string): Promise<Current> {
    if (this.waiting.length >= mostWaiting)
      return Promise.reject(
        new ServiceError("UNAVAILABLE", "The database cannot keep up with the calls; call again.", {
          headers: { "retry-after": "1" },
        }),
      );
    return new Promise((resolve, reject) => {
      this.waiting.push({ userId, knownStamp, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    if (this.reading === atOnce || this.waiting.length === 0) return;
    this.reading++;
    void this.readFor(this.waiting.splice(0, most)).then(() => {
      this.reading--;
      this.next();
    });
  }

  private async readFor(asked: readonly Asked[]): Promise<void> {
    try {
      const { rows } = await this.db.executeQuery(this.query(asked));
      for (const [at, { resolve }] of asked.entries()) resolve(rows[at] as Current);
    } catch (error) {
      // The id of one user may be the reason; the others can still be read.
      if (asked.length > 1 && isOfData(error)) for (const one of asked) await this.readFor([one]);
      // A database that is overloaded or gone would only get more to do.
      else for (const { reject } of asked) reject(error);
    }
  }

  private query(asked: readonly User[]): CompiledQuery {
    const parameters = parametersOf(this.projectId, this.data, asked);
    if (this.otherTypes.length === 0) return CompiledQuery.raw(currentStatement, parameters);
    parameters[4] = [parameters[4], ...this.otherTypes];
    return CompiledQuery.raw(currentOfTypes, parameters);
  }
}

/** Whether PostgreSQL refused a value of the statement (SQLSTATE class 22). */
function isOfData(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code ?? "").startsWith("22");
}
