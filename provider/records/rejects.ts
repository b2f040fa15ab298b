import { once } from "node:events";
import { createWriteStream, rmSync, type WriteStream } from "node:fs";

/** A record that was not taken, and why. */
export interface Reject {
  readonly source: string;
  readonly line: number;
  readonly id?: string | undefined;
  readonly reason: string;
  /** The record as JSON, or the text that could not be read as one. */
  readonly record: string;
}

/** The file of the records that were not taken, one per line with the reason; made with the first of them. */
export class Rejects {
  count = 0;
  /** The first of them, for messages. */
  first: Reject | undefined;
  #stream: WriteStream | undefined;

  constructor(readonly path: string) {
    rmSync(path, { force: true });
  }

  async add(reject: Reject): Promise<void> {
    this.count++;
    this.first ??= reject;
    this.#stream ??= createWriteStream(this.path, { mode: 0o600 });
    const { record, ...rest } = reject;
    const line = JSON.stringify({ ...rest, record: jsonOf(record) });
    if (!this.#stream.write(`${line}\n`)) await once(this.#stream, "drain");
  }

  async close(): Promise<void> {
    const stream = this.#stream;
    if (!stream) return;
    stream.end();
    await once(stream, "finish");
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
