import { createHash } from "node:crypto";
import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";

/** A record that was not accepted, and why. */
export interface Reject {
  readonly source: string;
  readonly line: number;
  readonly id?: string | undefined;
  readonly reason: string;
  /** The record as JSON, or the text that could not be read as one. */
  readonly record: string;
}

/** The file of refused records for a source or a resource, unless another one is chosen. */
export function rejectsFileFor(name: string): string {
  const plain = name.replace(/[*?{}[\]/\\]/g, "_");
  const digest = () => createHash("sha256").update(name).digest("hex").slice(0, 8);
  // File systems take 255 bytes.
  const short = Buffer.byteLength(plain) <= 200 ? plain : `${plain.slice(0, 50)}-${digest()}`;
  return `recommender-rejects-${short}.ndjson`;
}

/** The file of the refused records, one per line with the reason; created with the first of them. */
export class Rejects {
  count = 0;
  /** The first of them, for messages. */
  first: Omit<Reject, "record"> | undefined;
  #file: number | undefined;

  constructor(
    readonly path: string,
    /** Where records are secret: gives a reason without their values, and the file has the reasons alone. */
    private readonly redact?: (reason: string) => string,
  ) {
    this.#attempt(() => {
      // A device, such as /dev/null, stays.
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found || found.isFile() || found.isDirectory()) rmSync(path, { force: true });
    });
  }

  add(refused: Reject): void {
    this.count++;
    const reject = this.#shown(refused);
    this.first ??= reject;
    const { record, ...rest } = reject;
    const line = JSON.stringify({ ...rest, ...(record !== undefined && { record: jsonOf(record) }) });
    this.#attempt(() => {
      this.#file ??= openSync(this.path, "w", 0o600);
      writeSync(this.#file, `${line}\n`);
    });
  }

  #shown(reject: Reject): Omit<Reject, "record"> & Partial<Reject> {
    const { source, line, reason } = reject;
    return this.redact ? { source, line, reason: this.redact(reason) } : reject;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      const { first } = this;
      const refused = first ? `${first.source}:${first.line} was refused (${first.reason}), but ` : "";
      const problem = `the file of refused records cannot be written: ${(error as Error).message}`;
      throw new Error(`${refused}${problem}; choose another file (rejectsFile, --rejects)`);
    }
  }
}

/** A reason without the values it speaks of. */
export function generalised(reason: string): string {
  return reason.replace(/"(?:[^"\\]|\\.)*"/g, '"…"').replace(/[\d.-]*\d(?![\d.-]| cells| columns)/g, "0");
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
