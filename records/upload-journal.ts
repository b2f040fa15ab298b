import { createHash, randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { createDirectory, stateDirectory } from "../client/state-directory";
import { lineOf, type Outcome, readSections, type Section, type Totals } from "./journal-format";
import type { Remembered, Trust } from "./trust";

/** Whose journal it is: one source that fills one dataset of one service. */
export interface JournalOwner {
  readonly service: string;
  readonly datasetId: string;
  /** The file or the resource: several sources can fill one dataset. */
  readonly source: string;
}

/** The last complete upload of a source. */
export interface FinishedUpload extends Remembered {
  readonly totals: Totals;
}

/**
 * The uploads of one source on this machine: the last complete one, and the one that is under way or was interrupted.
 * If the file is lost, the next upload sends everything.
 */
export class UploadJournal {
  readonly #path: string;
  #finished: Section | undefined;
  #open: Section | undefined;
  #current: Section | undefined;
  #file: number | undefined;
  #isLost = false;

  constructor(
    owner: JournalOwner,
    /** Called once with the reason if the journal cannot be written; the upload goes on without it. */
    readonly onLost: (problem: string) => void = () => undefined,
  ) {
    const name = createHash("sha256").update(JSON.stringify([owner.service, owner.datasetId, owner.source]));
    this.#path = join(stateDirectory("uploads"), `${name.digest("hex").slice(0, 32)}.journal`);
    ({ finished: this.#finished, open: this.#open } = readSections(textOf(this.#path)));
  }

  /** The last complete upload. */
  get finished(): FinishedUpload | undefined {
    return this.#finished?.totals && { ...this.#finished, totals: this.#finished.totals };
  }

  /** The upload that was interrupted after the last complete one. */
  get open(): Remembered | undefined {
    return this.#open;
  }

  /** Begins or resumes an upload of a content. @returns its token */
  begin(contentHash: string, trust: Trust, basis: string | undefined): string {
    const isCareful = trust === "same content";
    if (this.#open && (trust === "open" || isCareful)) {
      this.#current = { ...this.#open, isCareful: this.#open.isCareful || isCareful };
    } else {
      const base = trust === "nothing" ? undefined : this.#finished?.token;
      this.#current = { token: randomUUID(), contentHash, basis, base, isCareful, batches: new Map() };
    }
    return this.#current.token;
  }

  /** Begins the same upload anew: nothing of it may be skipped from here on. */
  beginAgain(): void {
    this.close();
    this.#current = { ...this.#section, base: undefined, isCareful: false, batches: new Map() };
  }

  /** Whether a batch may only be skipped if it shares no id with any batch before it. */
  get isCareful(): boolean {
    return this.#section.isCareful;
  }

  /** What this upload has sent of a batch so far. */
  sent(index: number): Outcome | undefined {
    return this.#section.batches.get(index);
  }

  /** What the upload that this one builds on has sent of a batch. */
  before(index: number): Outcome | undefined {
    return this.#base?.batches.get(index);
  }

  /** What the upload that this one builds on has sent of batches from an index on. */
  beforeFrom(index: number): Outcome[] {
    return [...(this.#base?.batches ?? [])].flatMap(([at, outcome]) => (at >= index ? [outcome] : []));
  }

  /** Whether any batch may be skipped. */
  get knowsAny(): boolean {
    return this.#section.batches.size + (this.#base?.batches.size ?? 0) > 0;
  }

  /**
   * Records that a batch is about to be sent. An upload that sends nothing writes nothing: what an earlier one brought is
   * still there.
   */
  sending(): void {
    if (this.#file !== undefined || this.#isLost) return;
    const base = this.#base;
    this.#attempt(() => {
      this.#write([...(base ? [base] : []), this.#section]);
      this.#file = openSync(this.#path, "a", 0o600);
    });
  }

  /** Records what the service has accepted of a batch. */
  acknowledge(index: number, outcome: Outcome): void {
    this.#section.batches.set(index, outcome);
    const file = this.#file;
    if (file !== undefined) this.#attempt(() => writeSync(file, `${lineOf(index, outcome)}\n`));
  }

  /** Records that the upload is complete, with all its batches, sent or skipped. */
  finish(totals: Totals, batches: ReadonlyMap<number, Outcome>): void {
    const section = { ...this.#section, base: undefined, batches: new Map(batches), totals };
    if (!this.#isLost) this.#attempt(() => this.#write([section]));
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  get #section(): Section {
    if (!this.#current) throw new Error("the upload has not begun");
    return this.#current;
  }

  get #base(): Section | undefined {
    const { base } = this.#section;
    return base !== undefined && base === this.#finished?.token ? this.#finished : undefined;
  }

  #write(sections: readonly Section[]): void {
    const next = `${this.#path}.next`;
    createDirectory(dirname(this.#path));
    writeFileSync(next, sections.flatMap(linesOf).join(""), { mode: 0o600 });
    renameSync(next, this.#path);
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#isLost = true;
      this.close();
      // The old journal is wrong as soon as something else is sent.
      tryTo(() => rmSync(this.#path, { force: true }));
      this.onLost((error as Error).message);
    }
  }
}

function linesOf(section: Section): string[] {
  const { batches, totals, ...header } = section;
  const lines = [JSON.stringify({ version: 2, ...header })];
  for (const [index, outcome] of batches) lines.push(lineOf(index, outcome));
  if (totals) lines.push(JSON.stringify(totals));
  return lines.map((line) => `${line}\n`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // A journal that can be neither written nor removed is left as it is.
  }
}
