import { join } from "node:path";
import Database from "libsql";
import { allEntries, type JournalEntry } from "../../provider/recovery/journal";
import { canonicalUrn } from "../../provider/run/urn";
import type { FaultProxy } from "./proxy";

/** Message of a lifecycle about a resource. */
export interface Message {
  readonly urn: string | undefined;
  readonly message: string;
}

/** Object that the service has created. */
export interface Made {
  readonly call: string;
  readonly id: string;
  /** Idempotency key of its create. */
  readonly key: string | undefined;
  readonly projectId: string;
}

/** Live deployment of a project. */
export interface Serving {
  readonly projectId: string;
  readonly jobId: string;
  readonly generator: string;
  readonly ranker: string | null;
  readonly qps: number;
}

/** Id field in the reply of each create, as sent on the wire. */
const makes: Record<string, string> = {
  "POST /create-user-dataset": "user_dataset_id",
  "POST /create-item-dataset": "item_dataset_id",
  "POST /create-event-dataset": "event_dataset_id",
  "POST /create-project": "project_id",
  "POST /create-algorithm": "algorithm_id",
  "POST /submit-training-job": "job_id",
  "POST /submit-deployment-job": "job_id",
};

/** Objects that the service has created for a stack, and the messages about them. */
export class Account {
  /** All journal entries of all times, by key. */
  readonly #begun = new Map<string, JournalEntry>();
  /** Keys in the journals of lost machines. */
  readonly #gone = new Set<string>();

  constructor(
    private readonly stack: string,
    private readonly proxy: FaultProxy,
    private readonly messages: readonly Message[],
  ) {}

  /** Journal entries on this machine. */
  journal(): JournalEntry[] {
    const own = allEntries()
      .filter(({ urn }) => urn.includes(`:${this.stack}::`))
      .map((entry) => ({ ...entry, urn: canonicalUrn(entry.urn) }));
    for (const entry of own) this.#begun.set(entry.key, entry);
    return own;
  }

  /** Loses the machine with its journal. Returns the resources of the creates that are not in the state. */
  loseMachine(isInState: (entry: JournalEntry) => boolean): string[] {
    const lost = this.journal().filter((entry) => !isInState(entry));
    for (const { key } of lost) this.#gone.add(key);
    return lost.map(({ urn }) => urn);
  }

  /** Whether nobody can know of an object, because only a lost machine had it in its journal. */
  wentWithMachine({ key }: Pick<Made, "key">): boolean {
    return key !== undefined && this.#gone.has(key);
  }

  /** Objects that the service has created, by call. */
  made(call?: string): Made[] {
    const all = new Map<string, Made>();
    for (const taken of this.proxy.taken) {
      const named = makes[taken.call];
      if (!named || taken.status !== 200 || (call && taken.call !== call)) continue;
      const { [named]: id } = JSON.parse(taken.answer);
      const projectId = JSON.parse(taken.body).project_id ?? "";
      if (!all.has(id)) all.set(id, { call: taken.call, id, key: taken.key, projectId });
    }
    return [...all.values()];
  }

  /** Key of a resource's last call without a response. */
  lastWithoutAnswer(title: string, call: string): string | undefined {
    const isIts = ({ urn, path, id }: JournalEntry) =>
      urn.endsWith(`recommender:${title.replace(" ", "::")}`) && call.endsWith(path) && !id;
    const [last] = this.journal()
      .filter(isIts)
      .sort((a, b) => b.at.localeCompare(a.at));
    return last?.key;
  }

  /** Whether its id is in a message or in the journal. */
  isNamed(id: string): boolean {
    return this.journal().some((entry) => entry.id === id) || this.#words().some((text) => text.includes(id));
  }

  /** Whether it was reported as orphaned, or is in the recovery journal. */
  isLeft({ id, key }: Pick<Made, "id" | "key">): boolean {
    const isWritten = this.journal().some((entry) => entry.id === id);
    const isTold = this.#words().some((text) => text.includes(id) && text.includes("orphaned"));
    return isWritten || isTold || this.#isToldWithoutId(key);
  }

  /** Whether the user knows of the call that created it, even without its outcome. */
  #isToldWithoutId(key: string | undefined): boolean {
    if (key === undefined) return false;
    if (this.journal().some((entry) => entry.key === key)) return true;
    const entry = this.#begun.get(key);
    return this.messages.some(
      ({ urn, message }) =>
        entry !== undefined &&
        urn === entry.urn &&
        /may have|got no response/.test(message) &&
        message.includes(entry.at),
    );
  }

  #words(): string[] {
    return this.messages.map(({ message }) => message);
  }
}

/** Reads the live deployments from the service's table. */
export function servingIn(dataDir: string): Serving[] {
  const columns =
    "project_id projectId, job_id jobId, generator_model_id generator, ranker_model_id ranker, qps";
  return askedOf(dataDir, `select ${columns} from deployments`) as Serving[];
}

/** Reads the errors of failed jobs. */
export function failuresIn(dataDir: string): { readonly jobId: string; readonly result: string }[] {
  const failed = "select id jobId, result from jobs where status = 'FAILED'";
  return askedOf(dataDir, failed) as { jobId: string; result: string }[];
}

function askedOf(dataDir: string, query: string): unknown[] {
  const database = new Database(join(dataDir, "data.db"), { readonly: true });
  try {
    return database.prepare(query).all();
  } finally {
    database.close();
  }
}
