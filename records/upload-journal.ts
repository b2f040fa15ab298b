import { randomUUID } from "node:crypto";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { digest, readIfPossible, replaceFile, stateDirectory } from "../client/state-directory";
import { lineOf, type Outcome, readSections, type Section, type Totals } from "./journal-format";
import type { JournaledUpload, SkipMode } from "./skip-mode";

/** Key of a journal: a source that fills a dataset of a service. */
export interface JournalOwner {
  readonly service: string;
  readonly datasetId: string;
  /** Name of the file or resource. Several sources can fill one dataset. */
  readonly source: string;
}

/** Last complete upload of a source. */
export interface FinishedUpload extends JournaledUpload {
  readonly totals: Totals;
}

/**
 * Journal of the uploads of one source on this machine: the last complete upload, and the current or interrupted one.
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
    /** Called once with the reason if the journal cannot be written. The upload continues without a journal. */
    readonly onLost: (problem: string) => void = () => undefined,
  ) {
    const name = digest([owner.service, owner.datasetId, owner.source]);
    this.#path = join(stateDirectory("uploads"), `${name}.journal`);
    ({ finished: this.#finished, open: this.#open } = readSections(readIfPossible(this.#path) ?? ""));
  }

  /** Last complete upload. */
  get finished(): FinishedUpload | undefined {
    return this.#finished?.totals && { ...this.#finished, totals: this.#finished.totals };
  }

  /** Upload that began after the last complete one and was interrupted. */
  get open(): JournaledUpload | undefined {
    return this.#open;
  }

  /**
   * Begins or resumes an upload. If another machine has uploaded the same content since, the resumed upload gets a new
   * token. The service would reject batches with the old token, because a later upload has replaced it.
   *
   * @returns its token
   */
  begin(contentHash: string, mode: SkipMode, basis: string | undefined): string {
    if (this.#open && mode === "open") {
      this.#current = this.#open;
    } else if (this.#open && mode === "same content") {
      this.#current = { ...this.#open, token: randomUUID(), isCareful: true };
    } else {
      const base = mode === "nothing" ? undefined : this.#finished?.token;
      this.#current = {
        token: randomUUID(),
        contentHash,
        basis,
        base,
        isCareful: mode === "same content",
        batches: new Map(),
      };
    }
    return this.#current.token;
  }

  /** Restarts the upload. No batch can be skipped after this. */
  restart(): void {
    this.close();
    this.#current = { ...this.#section, base: undefined, isCareful: false, batches: new Map() };
  }

  /** Whether a batch can be skipped only if it shares no id with an earlier batch. */
  get isCareful(): boolean {
    return this.#section.isCareful;
  }

  /** Result of a batch that this upload has sent. */
  sent(index: number): Outcome | undefined {
    return this.#section.batches.get(index);
  }

  /** Result of a batch in the earlier upload that this one builds on. */
  before(index: number): Outcome | undefined {
    return this.#base?.batches.get(index);
  }

  /** Results of the batches, starting at an index, in the earlier upload that this one builds on. */
  beforeFrom(index: number): Outcome[] {
    return [...(this.#base?.batches ?? [])].flatMap(([at, outcome]) => (at >= index ? [outcome] : []));
  }

  /** Whether the journal contains the result of any batch. */
  get knowsAny(): boolean {
    return this.#section.batches.size + (this.#base?.batches.size ?? 0) > 0;
  }

  /**
   * Opens the journal file before the first batch is sent. Until then, the file still describes the earlier upload,
   * which the dataset still contains.
   */
  sending(): void {
    if (this.#file !== undefined || this.#isLost) return;
    const base = this.#base;
    this.#attempt(() => {
      this.#write([...(base ? [base] : []), this.#section]);
      this.#file = openSync(this.#path, "a", 0o600);
    });
  }

  /** Records the result of a batch. */
  acknowledge(index: number, outcome: Outcome): void {
    this.#section.batches.set(index, outcome);
    const file = this.#file;
    if (file !== undefined) this.#attempt(() => writeSync(file, `${lineOf(index, outcome)}\n`));
  }

  /** Records that the upload is complete, with the results of all batches, sent or skipped. */
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
    replaceFile(this.#path, sections.flatMap(linesOf).join(""));
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#isLost = true;
      this.close();
      // With an outdated journal, the next upload would skip batches that have changed in the dataset.
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

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // If the journal cannot be removed either, it stays.
  }
}
