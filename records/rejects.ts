import { createHash } from "node:crypto";
import { closeSync, lstatSync, openSync, writeSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
import { parseJson } from "../client/parse";
import { chooseFile, rejectLine, removeRejectsFile } from "./rejects-file";
import type { SourceFile } from "./source";

/** Rejected record and its reason. */
export interface Reject {
  readonly source: string;
  readonly line: number;
  readonly id?: string | undefined;
  readonly reason: string;
  /** JSON of the record, or its text if it is not valid JSON. */
  readonly record: string;
}

/** Returns the default name of the rejects file of a resource. */
export function rejectsFileFor(name: string): string {
  const plain = name.replace(/[*?{}[\]/\\]/g, "_");
  // File names can have at most 255 bytes.
  const short = Buffer.byteLength(plain) <= 200 ? plain : `${plain.slice(0, 50)}-${digestOf(name)}`;
  return `recommender-rejects-${short}.ndjson`;
}

/**
 * Returns the default name of the rejects file of an import. Sources with the same file name in different directories
 * have different rejects files. The name of a source that is not a file contains a digest of its address.
 */
export function rejectsFileForSource(source: string, displayName = source): string {
  if (displayName !== source || /^\w{2,}:\/\//.test(source))
    return rejectsFileFor(`${basename(displayName).replace(/\W+/g, "-")}-${digestOf(source)}`);
  const path = relative(process.cwd(), resolve(source));
  const name = basename(path).replace(/\.ndjson$/i, "");
  return rejectsFileFor(basename(path) === path ? name : `${name}-${digestOf(path)}`);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** Rejects file: one rejected record per line, with its reason. It is created with the first record. */
export class Rejects {
  count = 0;
  /** First rejected record, for messages. */
  first: Omit<Reject, "record"> | undefined;
  #file: number | undefined;

  private constructor(
    readonly path: string,
    private readonly redact: ((reason: string) => string) | undefined,
  ) {}

  /**
   * Deletes the rejects file of the last upload. Fails if the user has written or changed it, or if it is a source.
   * @param redact removes values from a reason; set only if records are secret, and then the file contains no records
   */
  static async open(
    path: string,
    sources: readonly SourceFile[],
    redact?: (reason: string) => string,
  ): Promise<Rejects> {
    await removeRejectsFile(path, sources);
    return new Rejects(path, redact);
  }

  add(given: Reject): void {
    this.count++;
    const { source, line: at, reason } = given;
    const reject: Omit<Reject, "record"> & Partial<Reject> = this.redact
      ? { source, line: at, reason: this.redact(reason) }
      : given;
    this.first ??= reject;
    const { record, ...rest } = reject;
    const line = rejectLine({ ...rest, ...(record !== undefined && { record: jsonOf(record) }) });
    try {
      this.#file ??= this.#create();
      writeSync(this.#file, `${line}\n`);
    } catch (error) {
      const { first } = this;
      const problem = `cannot write the rejects file: ${(error as Error).message}`;
      throw new Error(
        `${first.source}:${first.line} was rejected (${first.reason}), but ${problem}. ${chooseFile}`,
      );
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #create(): number {
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    // With "wx", a file that appeared after the check is not overwritten. Devices and links already exist, so they need
    // "w".
    return openSync(this.path, !found || found.isFile() ? "wx" : "w", 0o600);
  }
}

/** Replaces the values in a reason, to group reasons and to hide secrets. */
export function generalised(reason: string): string {
  return reason.replace(/"(?:[^"\\]|\\.)*"/g, '"…"').replace(/[\d.-]*\d(?![\d.-]| cells| columns)/g, "0");
}

function jsonOf(text: string): unknown {
  const value = parseJson(text);
  return value === undefined ? text : value;
}
