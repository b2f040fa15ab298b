import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { quality as contractQuality } from "../../contract";
import { issuesText } from "../../contract/messages";
import { withFileLock } from "./history-lock";

/**
 * Object schema that keeps unknown fields. A newer version may have added them, and an older version must not lose them
 * when it adds entries.
 */
const extensible = <T extends z.ZodRawShape>(shape: T) => z.looseObject(shape) as unknown as z.ZodObject<T>;

const { ndcgAt20, ...otherMetrics } = contractQuality.shape;
/** Quality of a model. NDCG comes first, as in files of earlier versions, to keep diffs small. */
const quality = extensible({ ndcgAt20, ...otherMetrics });

const servedModel = extensible({
  modelId: z.string(),
  /** Logical name of the `Model` in the program. Absent for a pinned model. */
  model: z.string().optional(),
  quality: quality.optional(),
});

/** Models of one deployment. */
const served = extensible({ name: z.string(), generator: servedModel, ranker: servedModel.optional() });

const contents = extensible({
  records: z.array(
    extensible({
      name: z.string(),
      type: z.string(),
      contentHash: z.string(),
      recordCount: z.number().optional(),
    }),
  ),
  algorithms: z.array(
    extensible({ name: z.string(), type: z.string(), declaredParameters: z.record(z.string(), z.json()) }),
  ),
  models: z.array(
    extensible({
      name: z.string(),
      modelId: z.string(),
      projectId: z.string(),
      trainedParameters: z.record(z.string(), z.json()).optional(),
      quality: quality.optional(),
    }),
  ),
  deployments: z.array(
    served.extend({
      projectId: z.string(),
      qps: z.number(),
      check: extensible({
        users: z.int(),
        minResults: z.int(),
        maxLatencyMs: z.number().optional(),
        result: z.string(),
      }).optional(),
    }),
  ),
});

const entry = extensible({
  id: z.string(),
  action: z.enum(["release", "promote", "rollback"]),
  status: z.enum(["running", "done", "failed"]),
  beganAt: z.iso.datetime(),
  endedAt: z.iso.datetime().optional(),
  /** The release that was promoted, or the target of a rollback. */
  from: extensible({ stack: z.string(), release: z.string() }).optional(),
  program: extensible({ commit: z.string().nullable(), dirty: z.boolean() }),
  versions: extensible({ package: z.string(), sdk: z.string(), engine: z.string() }),
  /** Blocking issues that the user allowed with `--allow`. */
  allowed: z.array(z.string()).optional(),
  /** Live models when it began. */
  before: z.array(served).optional(),
  /** Required NDCG@20 of each model. */
  minQuality: z.record(z.string(), z.number()).optional(),
  reason: z.string().optional(),
  contents: contents.optional(),
});

const releaseFile = extensible({
  version: z.literal(1),
  project: z.string(),
  stack: z.string(),
  releases: z.array(entry),
});

/** Quality metrics that a training measured. */
export type Quality = z.output<typeof quality>;
/** Models of one deployment. */
export type Served = z.output<typeof served>;
/** Records, algorithms, models and deployments of a stack. */
export type Contents = z.output<typeof contents>;
/** One release, promotion or rollback of a stack. */
export type Release = z.output<typeof entry>;
/** All releases, promotions and rollbacks of a stack, oldest first. */
export type History = z.output<typeof releaseFile>;

/** Project and stack that a history belongs to. */
interface Owner {
  readonly project: string;
  readonly stack: string;
}

/** The history of a stack, in a file that users commit. Entries are appended and never removed. */
export class ReleaseFile {
  private constructor(
    readonly path: string,
    private readonly owner: Owner,
    private history: History,
  ) {}

  /** Reads the history of a stack. It is empty if the file does not exist. */
  static async open(directory: string, owner: Owner): Promise<ReleaseFile> {
    const path = join(directory, `${owner.stack.split("/").at(-1)}.json`);
    return new ReleaseFile(path, owner, await read(path, owner));
  }

  /** All entries, oldest first. */
  get releases(): readonly Release[] {
    return this.history.releases;
  }

  /** The newest entry that succeeded. */
  get latest(): Release | undefined {
    return this.releases.findLast(({ status }) => status === "done");
  }

  /** The newest entry that is still marked as running, because its process was interrupted. */
  get interrupted(): Release | undefined {
    return this.releases.findLast(({ status }) => status === "running");
  }

  /**
   * Adds an entry with the next id, and marks an interrupted entry as failed. Throws if another process has changed the
   * history since it was opened, because the decision to add the entry was based on the old history.
   */
  async add(release: Omit<Release, "id">): Promise<Release> {
    return this.#change((now) => {
      if (!isDeepStrictEqual(now.releases, this.releases)) {
        const ids = now.releases.filter(
          (entry) => !this.releases.some((known) => isDeepStrictEqual(known, entry)),
        );
        const changed = ids.map(({ id }) => id).join(", ") || "entries are missing";
        throw new Error(
          `${this.path} has changed since it was read (${changed}). ` +
            "Another run is working on this stack. Wait for it to end, then run this command again.",
        );
      }
      const added = { ...release, id: `${this.owner.stack.split("/").at(-1)}-${now.releases.length + 1}` };
      const endedAt = new Date().toISOString();
      const reason = `It was interrupted, and ${added.id} replaced it.`;
      const others = now.releases.map((entry) =>
        entry.status === "running" ? { ...entry, status: "failed" as const, reason, endedAt } : entry,
      );
      return [[...others, added], added];
    });
  }

  /** Adds an entry, or replaces the entry with the same id. */
  async put(release: Release): Promise<void> {
    await this.#change(({ releases }) => [
      releases.some(({ id }) => id === release.id)
        ? releases.map((entry) => (entry.id === release.id ? release : entry))
        : [...releases, release],
      undefined,
    ]);
  }

  async #change<T>(work: (now: History) => readonly [releases: Release[], result: T]): Promise<T> {
    return withFileLock(this.path, async () => {
      const now = await read(this.path, this.owner);
      const [releases, result] = work(now);
      const text = formatHistory({ ...now, releases });
      this.history = parse(this.path, text, this.owner);
      // Replaces the file atomically, so a killed process never leaves a partial file.
      const temporary = `${this.path}.${process.pid}`;
      await writeFile(temporary, text);
      await rename(temporary, this.path);
      return result;
    });
  }
}

async function read(path: string, owner: Owner): Promise<History> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? { version: 1, ...owner, releases: [] } : parse(path, text, owner);
}

/** Formats the file with fields in the order of the schema, to keep diffs small. */
export function formatHistory(history: History): string {
  return `${JSON.stringify(releaseFile.parse(history), null, 2)}\n`;
}

function parse(path: string, text: string, owner: Owner): History {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const conflict = /^[<=>]{7}/m.test(text) ? "it has a merge conflict; keep both sides, in order" : "";
    throw new Error(`${path} is not JSON: ${conflict || (error as Error).message}`);
  }
  if ((json as { version?: unknown } | null)?.version !== 1) {
    throw new Error(
      `${path} has a format that this version cannot read. If a newer version wrote it, update pulumi-recommender.`,
    );
  }
  const read = releaseFile.safeParse(json);
  if (!read.success) throw new Error(`${path} is not a release history: ${issuesText(read.error.issues)}`);
  if (read.data.project !== owner.project) {
    throw new Error(
      `${path} belongs to project ${read.data.project}, not to ${owner.project}. ` +
        "Choose another directory with --releases.",
    );
  }
  return read.data;
}
