import { join } from "node:path";
import Database from "libsql";
import { allEntries, type JournalEntry } from "../../provider/recovery/journal";
import { canonicalUrn } from "../../provider/run/urn";
import type { FaultProxy } from "./proxy";

/** What a lifecycle has told the user, and of which resource. */
export interface Said {
  readonly urn: string | undefined;
  readonly message: string;
}

/** Something that the service has made. */
export interface Made {
  readonly call: string;
  readonly id: string;
  /** The key under which it was asked for. */
  readonly key: string | undefined;
  readonly projectId: string;
}

/** What serves a project. */
export interface Serving {
  readonly projectId: string;
  readonly jobId: string;
  readonly generator: string;
  readonly ranker: string | null;
  readonly qps: number;
}

/** The reply's id of each call that makes something, in the form it has on the wire. */
const makes: Record<string, string> = {
  "POST /create-user-dataset": "user_dataset_id",
  "POST /create-item-dataset": "item_dataset_id",
  "POST /create-event-dataset": "event_dataset_id",
  "POST /create-project": "project_id",
  "POST /create-algorithm": "algorithm_id",
  "POST /submit-training-job": "job_id",
  "POST /submit-deployment-job": "job_id",
};

/** What the service has made for a stack, and what the user was told of it. */
export class Account {
  /** Every creation that was ever written down, by its key. */
  readonly #begun = new Map<string, JournalEntry>();
  /** Keys of what was written down on machines that are no more. */
  readonly #gone = new Set<string>();

  constructor(
    private readonly stack: string,
    private readonly proxy: FaultProxy,
    private readonly said: readonly Said[],
  ) {}

  /** What is written down on this machine. */
  journal(): JournalEntry[] {
    const own = allEntries()
      .filter(({ urn }) => urn.includes(`:${this.stack}::`))
      .map((entry) => ({ ...entry, urn: canonicalUrn(entry.urn) }));
    for (const entry of own) this.#begun.set(entry.key, entry);
    return own;
  }

  /** The machine goes, with what is written down there; gives the resources of the creations that the state lacks. */
  loseMachine(isInState: (entry: JournalEntry) => boolean): string[] {
    const lost = this.journal().filter((entry) => !isInState(entry));
    for (const { key } of lost) this.#gone.add(key);
    return lost.map(({ urn }) => urn);
  }

  /** Whether nobody can know of it, as the machine that had it written down is no more. */
  wentWithMachine({ key }: Pick<Made, "key">): boolean {
    return key !== undefined && this.#gone.has(key);
  }

  /** What the service has made, by call. */
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

  /** The key of a resource's last call that got no answer. */
  lastWithoutAnswer(title: string, call: string): string | undefined {
    const isIts = ({ urn, path, id }: JournalEntry) =>
      urn.endsWith(`recommender:${title.replace(" ", "::")}`) && call.endsWith(path) && !id;
    const [last] = this.journal()
      .filter(isIts)
      .sort((a, b) => b.at.localeCompare(a.at));
    return last?.key;
  }

  /** Whether its id was named to the user, or is written down. */
  isNamed(id: string): boolean {
    return this.journal().some((entry) => entry.id === id) || this.#words().some((text) => text.includes(id));
  }

  /** Whether it was named as orphaned, or is in the recovery journal. */
  isLeft({ id, key }: Pick<Made, "id" | "key">): boolean {
    const isWritten = this.journal().some((entry) => entry.id === id);
    const isTold = this.#words().some((text) => text.includes(id) && text.includes("orphaned"));
    return isWritten || isTold || this.#isToldWithoutId(key);
  }

  /** Whether the user knows of the very call that made it, if not of what came of it. */
  #isToldWithoutId(key: string | undefined): boolean {
    if (key === undefined) return false;
    if (this.journal().some((entry) => entry.key === key)) return true;
    const entry = this.#begun.get(key);
    return this.said.some(
      ({ urn, message }) =>
        entry !== undefined &&
        urn === entry.urn &&
        /may have|got no response/.test(message) &&
        message.includes(entry.at),
    );
  }

  #words(): string[] {
    return this.said.map(({ message }) => message);
  }
}

/** What serves, from the service's own table. */
export function servingIn(dataDir: string): Serving[] {
  const columns =
    "project_id projectId, job_id jobId, generator_model_id generator, ranker_model_id ranker, qps";
  return askedOf(dataDir, `select ${columns} from deployments`) as Serving[];
}

/** What the jobs that failed say. */
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
