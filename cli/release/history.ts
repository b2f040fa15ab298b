import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { issuesText } from "../../contract/messages";
import { withFileLock } from "./history-lock";
import {
  type contents,
  type entry,
  type figures,
  type quality,
  releaseFile,
  type served,
  type watch,
} from "./history-schema";

/** Quality metrics that a training measured. */
export type Quality = z.output<typeof quality>;
/** Models and rules of one deployment. */
export type Served = z.output<typeof served>;
/** Records, algorithms, models and deployments of a stack. */
export type Contents = z.output<typeof contents>;
/** Measurements of a watch for one deployment. */
export type Figures = z.output<typeof figures>;
/** The watch of a release. */
export type Watch = z.output<typeof watch>;
/** One release, promotion, rollback or retraining of a stack. */
export type Release = z.output<typeof entry>;
/** All releases, promotions, rollbacks and retrainings of a stack, oldest first. */
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

  /** The newest entry whose watch has not ended. */
  get watched(): Release | undefined {
    return findWatched(this.releases);
  }

  /**
   * Adds an entry with the next id, marks an interrupted entry as failed, and ends the watch of other entries. Throws if
   * another process has changed the history since it was opened, because the decision to add the entry was based on the
   * old history.
   */
  async add(release: Omit<Release, "id">): Promise<Release> {
    return this.#change((now) => {
      const [present, known] = [now.releases.map(withoutProgress), this.releases.map(withoutProgress)];
      if (!isDeepStrictEqual(present, known)) {
        const ids = present.filter((entry) => !known.some((one) => isDeepStrictEqual(one, entry)));
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
        entry.status === "running"
          ? { ...entry, status: "failed" as const, reason, endedAt }
          : withWatchEnded(entry, added.watched),
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

  /**
   * Changes the watch of an entry, unless the watch has ended in the meantime, for example because another change of the
   * stack has begun. Returns the entry as it is in the file then.
   */
  async putWatched(release: Release): Promise<Release> {
    return this.#change(({ releases }) => {
      const now = releases.find(({ id }) => id === release.id);
      if (!now || !isBeingWatched(now)) return [releases, now ?? release];
      return [releases.map((entry) => (entry === now ? release : entry)), release];
    });
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

/** Returns the newest entry whose watch has not ended. */
export function findWatched(releases: readonly Release[]): Release | undefined {
  return releases.findLast(isBeingWatched);
}

function isBeingWatched({ status, watch }: Release): boolean {
  return status === "done" && watch?.state === "watching";
}

/**
 * Leaves out what a watch has measured so far. It changes every few seconds, and must not stop a rollback by hand during
 * the watch.
 */
function withoutProgress(entry: Release): Release {
  const { watch } = entry;
  if (!watch) return entry;
  const { now: _, ...rest } = watch;
  return { ...entry, watch: { ...rest, observedMs: 0 } };
}

/** Ends the watch of an entry, unless the new entry is its rollback. */
function withWatchEnded(entry: Release, rolledBack: string | undefined): Release {
  const { watch, id } = entry;
  if (!watch || !isBeingWatched(entry) || id === rolledBack) return entry;
  return { ...entry, watch: { ...watch, state: "ended" } };
}

/** Reads the history in a file, of any project and stack. */
export async function readHistory(path: string): Promise<History> {
  return parse(path, await readFile(path, "utf8"));
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

function parse(path: string, text: string, owner?: Owner): History {
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
  if (owner && read.data.project !== owner.project) {
    throw new Error(
      `${path} belongs to project ${read.data.project}, not to ${owner.project}. ` +
        "Choose another directory with --releases.",
    );
  }
  return read.data;
}
