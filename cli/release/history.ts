import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { issuesText } from "../../contract/messages";
import { withFileLock } from "./history-lock";

/** What a training measured on the data that it held out. */
export const quality = z.strictObject({
  ndcgAt20: z.number().optional(),
  recallAt20: z.number().optional(),
  popularityRecallAt20: z.number().optional(),
  popularityNdcgAt20: z.number().optional(),
  heldOutPairs: z.int().optional(),
  heldOutUsers: z.int().optional(),
  holdOut: z.string().optional(),
  learnedOnUsers: z.int().optional(),
  allUsers: z.int().optional(),
  unrankedNdcgAt20: z.number().optional(),
  rankedNdcgAt20: z.number().optional(),
  coverageAt20: z.number().optional(),
  coldItemsAt20: z.number().optional(),
  diversityAt20: z.number().optional(),
  shownPopularityAt20: z.number().optional(),
  chosenPopularity: z.number().optional(),
});

const servedModel = z.strictObject({
  modelId: z.string(),
  /** Logical name of the `Model` that the program declares; absent for a model that is pinned. */
  model: z.string().optional(),
  quality: quality.optional(),
});

/** What one deployment serves. */
const served = z.strictObject({
  name: z.string(),
  generator: servedModel,
  ranker: servedModel.optional(),
});

const contents = z.strictObject({
  records: z.array(
    z.strictObject({
      name: z.string(),
      type: z.string(),
      contentHash: z.string(),
      recordCount: z.number().optional(),
    }),
  ),
  algorithms: z.array(
    z.strictObject({
      name: z.string(),
      type: z.string(),
      declaredParameters: z.record(z.string(), z.json()),
    }),
  ),
  models: z.array(
    z.strictObject({
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
      check: z
        .strictObject({
          users: z.int(),
          minResults: z.int(),
          maxLatencyMs: z.number().optional(),
          result: z.string(),
        })
        .optional(),
    }),
  ),
});

const entry = z.strictObject({
  id: z.string(),
  action: z.enum(["release", "promote", "rollback"]),
  status: z.enum(["running", "done", "failed"]),
  beganAt: z.iso.datetime(),
  endedAt: z.iso.datetime().optional(),
  /** The release that was promoted, or gone back to. */
  from: z.strictObject({ stack: z.string(), release: z.string() }).optional(),
  program: z.strictObject({ commit: z.string().nullable(), dirty: z.boolean() }),
  versions: z.strictObject({ package: z.string(), sdk: z.string(), engine: z.string() }),
  /** Reasons against it that were overruled. */
  allowed: z.array(z.string()).optional(),
  /** What served when it began. */
  before: z.array(served).optional(),
  /** NDCG@20 that each model was asked to reach. */
  minQuality: z.record(z.string(), z.number()).optional(),
  reason: z.string().optional(),
  contents: contents.optional(),
});

const releaseFile = z.strictObject({
  version: z.literal(1),
  project: z.string(),
  stack: z.string(),
  releases: z.array(entry),
});

/** What a training measured. */
export type Quality = z.output<typeof quality>;
/** What one deployment serves. */
export type Served = z.output<typeof served>;
/** What a stack holds, as far as a release describes it. */
export type Contents = z.output<typeof contents>;
/** One release, promotion or rollback of a stack. */
export type Release = z.output<typeof entry>;
/** All that was done to a stack, oldest first. */
export type History = z.output<typeof releaseFile>;

/**
 * The history of a stack in a file to be committed. Entries are added at the end and never taken away, whoever else
 * writes to the file at the same time.
 */
export class ReleaseFile {
  private constructor(
    readonly path: string,
    private readonly of: { readonly project: string; readonly stack: string },
    private history: History,
  ) {}

  /** Reads the history of a stack; one that has none yet is empty. */
  static async open(folder: string, of: { project: string; stack: string }) {
    const path = join(folder, `${of.stack.split("/").at(-1)}.json`);
    return new ReleaseFile(path, of, await read(path, of));
  }

  /** All entries, oldest first. */
  get releases(): readonly Release[] {
    return this.history.releases;
  }

  /** The newest entry that was carried out. */
  get latest(): Release | undefined {
    return this.releases.findLast(({ status }) => status === "done");
  }

  /** The entry that was begun and neither finished nor failed: the process that wrote it was interrupted. */
  get interrupted(): Release | undefined {
    return this.releases.findLast(({ status }) => status === "running");
  }

  /**
   * Adds an entry under the next id; an interrupted one before it is given up. Refused if somebody else has written to
   * the history since it was opened: what is added was decided by what the history said then.
   */
  async add(release: Omit<Release, "id">): Promise<Release> {
    return this.#change((now) => {
      if (!isDeepStrictEqual(now.releases, this.releases)) {
        const ids = now.releases.filter(
          (entry) => !this.releases.some((known) => isDeepStrictEqual(known, entry)),
        );
        throw new Error(
          `${this.path} has changed since it was read: ${ids.map(({ id }) => id).join(", ") || "entries are missing"}. ` +
            "Another run works on this stack. When it has ended, run this again.",
        );
      }
      const added = { ...release, id: `${this.of.stack.split("/").at(-1)}-${now.releases.length + 1}` };
      const endedAt = new Date().toISOString();
      const reason = `It was interrupted, and ${added.id} took its place.`;
      const others = now.releases.map((entry) =>
        entry.status === "running" ? { ...entry, status: "failed" as const, reason, endedAt } : entry,
      );
      return [[...others, added], added];
    });
  }

  /** Writes an entry in the place of the one of the same id. */
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
      const now = await read(this.path, this.of);
      const [releases, result] = work(now);
      const text = formatHistory({ ...now, releases });
      this.history = parse(this.path, text, this.of);
      // A reader never finds half a file, whenever this process ends.
      const half = `${this.path}.${process.pid}`;
      await writeFile(half, text);
      await rename(half, this.path);
      return result;
    });
  }
}

async function read(path: string, of: { project: string; stack: string }): Promise<History> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? { version: 1, ...of, releases: [] } : parse(path, text, of);
}

/** The file's text: fields in the order of the schema, so that a diff shows only what became different. */
export function formatHistory(history: History): string {
  return `${JSON.stringify(releaseFile.parse(history), null, 2)}\n`;
}

function parse(path: string, text: string, of: { project: string; stack: string }): History {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const conflict = /^[<=>]{7}/m.test(text) ? "it holds a merge conflict: keep both sides, in order" : "";
    throw new Error(`${path} is not JSON: ${conflict || (error as Error).message}`);
  }
  const read = releaseFile.safeParse(json);
  if (!read.success) {
    throw new Error(`${path} is not a file of releases: ${issuesText(read.error.issues)}`);
  }
  if (read.data.project !== of.project) {
    throw new Error(
      `${path} is of project ${read.data.project}, not of ${of.project}: give another folder with --releases`,
    );
  }
  return read.data;
}
