import { createHash } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { stateFolder } from "../state-folder";

/** What an upload came to. */
export interface Totals {
  /** Records that the service took. */
  readonly recordCount: number;
  /** Records that were refused, here or by the service. */
  readonly failedCount: number;
}

/** Whose journal it is: one source that fills one dataset of one service. */
export interface JournalOwner {
  readonly service: string;
  readonly datasetId: string;
  /** The file or the resource, so that several sources can fill one dataset. */
  readonly source: string;
}

/** The batches of one content that the service has acknowledged, by their place in the source. */
interface Section {
  readonly contentHash: string;
  readonly batches: Map<number, string>;
  totals?: Totals;
}

/**
 * What of a source the service has acknowledged, written down batch by batch.
 * An upload that was interrupted goes on where it was; one whose content has changed sends only the batches that
 * differ from those at the same place before. Where one id comes in several batches, the order in which they win is
 * that of the batches sent. Losing the journal costs no more than sending everything again.
 */
export class Journal {
  readonly #path: string;
  #finished: Section | undefined;
  #current: Section | undefined;
  #known = new Map<number, string>();
  #file: number | undefined;

  constructor(owner: JournalOwner) {
    const name = createHash("sha256").update(JSON.stringify([owner.service, owner.datasetId, owner.source]));
    this.#path = join(stateFolder("uploads"), `${name.digest("hex").slice(0, 32)}.journal`);
    for (const section of read(this.#path)) {
      if (section.totals) this.#finished = section;
      this.#current = section.totals ? undefined : section;
    }
  }

  /** The content that was last uploaded to its end. */
  get finished(): { readonly contentHash: string; readonly totals: Totals } | undefined {
    return (
      this.#finished?.totals && { contentHash: this.#finished.contentHash, totals: this.#finished.totals }
    );
  }

  /** Forgets everything, so that everything is sent. */
  clear(): void {
    this.#finished = undefined;
    this.#current = undefined;
  }

  /** Begins to upload a content; with `trustFinished`, what the last whole upload sent is still there. */
  begin(contentHash: string, { trustFinished }: { readonly trustFinished: boolean }): void {
    const finished = trustFinished ? this.#finished : undefined;
    const resumes = this.#current?.contentHash === contentHash;
    // What a broken-off upload of another content overwrote is unknown beyond its own batches.
    const known = this.#current ? (resumes ? [finished, this.#current] : [this.#current]) : [finished];
    this.#known = new Map(known.flatMap((section) => [...(section?.batches ?? [])]));
    mkdirSync(join(this.#path, ".."), { recursive: true, mode: 0o700 });
    if (!finished && !this.#current) rmSync(this.#path, { force: true });
    this.#file = openSync(this.#path, "a", 0o600);
    if (!resumes) this.#current = { contentHash, batches: new Map() };
    writeSync(this.#file, `\n${JSON.stringify({ contentHash })}\n`);
  }

  /** Whether the batch at this place was acknowledged with this very content. */
  has(index: number, hash: string): boolean {
    return this.#known.get(index) === hash;
  }

  /** Writes down that the service has the batch. */
  acknowledge(index: number, hash: string): void {
    this.#current?.batches.set(index, hash);
    if (this.#file !== undefined) writeSync(this.#file, `${index} ${hash}\n`);
  }

  /** Writes down that everything was sent, and keeps only what the next upload needs. */
  finish(totals: Totals): void {
    const { contentHash, batches } = this.#current as Section;
    const lines = [JSON.stringify({ contentHash }), ...[...batches].map((entry) => entry.join(" "))];
    const next = `${this.#path}.next`;
    writeFileSync(next, `${[...lines, JSON.stringify(totals)].join("\n")}\n`, { mode: 0o600 });
    renameSync(next, this.#path);
    this.#finished = { contentHash, batches, totals };
    this.#current = undefined;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** Sections in the order they were written; a line that was cut short by the end of its writer is passed over. */
function read(path: string): Section[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  const sections: Section[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const last = sections.at(-1);
    const acknowledged = /^(\d+) (\S{22})$/.exec(line);
    if (acknowledged) last?.batches.set(Number(acknowledged[1]), acknowledged[2] as string);
    else if (line.startsWith("{")) {
      const { contentHash, ...totals } = JSON.parse(line) as { contentHash?: string } & Totals;
      if (contentHash === undefined) {
        if (last) last.totals = totals;
      } else if (last?.contentHash !== contentHash || last.totals) {
        // An upload that broke off may have overwritten what an earlier one brought.
        if (last && !last.totals) sections.length = 0;
        sections.push({ contentHash, batches: new Map() });
      }
    }
  }
  return sections;
}
