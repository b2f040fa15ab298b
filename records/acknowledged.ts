import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder, stateFolder } from "../client/state-folder";

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
 * What of a source the service has acknowledged, recorded batch by batch.
 * An upload that was interrupted continues where it was; one whose content has changed sends only the batches that
 * differ from those at the same place before. Where one id comes in several batches, the order in which they win is
 * that of the batches sent. Losing the journal costs no more than sending everything again.
 */
export class Journal {
  readonly #path: string;
  #finished: Section | undefined;
  #current: Section | undefined;
  #known = new Map<number, string>();
  #file: number | undefined;
  #isFresh = false;
  #isLost = false;

  constructor(
    owner: JournalOwner,
    /** Called once with the reason if the journal cannot be written; the upload goes on without it. */
    readonly onLost: (problem: string) => void = () => undefined,
  ) {
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
    this.#isFresh = !finished && !this.#current;
    if (!resumes) this.#current = { contentHash, batches: new Map() };
  }

  /** Whether the batch at this place was acknowledged with this very content. */
  has(index: number, hash: string): boolean {
    return this.#known.get(index) === hash;
  }

  /**
   * Records that a batch is about to go. Only from the first one on is something overwritten: an upload that
   * sends nothing takes nothing from what an earlier one has brought.
   */
  sending(): void {
    if (this.#file !== undefined || this.#isLost) return;
    const { contentHash, batches } = this.#current as Section;
    this.#attempt(() => {
      makeFolder(dirname(this.#path));
      this.#file = openSync(this.#path, this.#isFresh ? "w" : "a", 0o600);
      writeSync(this.#file, `\n${sectionLines(contentHash, batches).join("\n")}\n`);
    });
  }

  /** Records that the service has the batch. */
  acknowledge(index: number, hash: string): void {
    this.#current?.batches.set(index, hash);
    const file = this.#file;
    if (file !== undefined) this.#attempt(() => writeSync(file, `${index} ${hash}\n`));
  }

  /** Records that everything was sent, and keeps only what the next upload needs. */
  finish(totals: Totals): void {
    if (this.#isLost) return;
    const { contentHash, batches } = this.#current as Section;
    this.#attempt(() => {
      const next = `${this.#path}.next`;
      const lines = [...sectionLines(contentHash, batches), JSON.stringify(totals)];
      makeFolder(dirname(this.#path));
      writeFileSync(next, `${lines.join("\n")}\n`, { mode: 0o600 });
      renameSync(next, this.#path);
    });
    this.#finished = { contentHash, batches, totals };
    this.#current = undefined;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#isLost = true;
      this.close();
      // What it says is true no more once something else is sent.
      tryTo(() => rmSync(this.#path, { force: true }));
      this.onLost((error as Error).message);
    }
  }
}

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // A journal that can neither be written nor removed cannot be helped.
  }
}

function sectionLines(contentHash: string, batches: ReadonlyMap<number, string>): string[] {
  return [JSON.stringify({ contentHash }), ...[...batches].map((entry) => entry.join(" "))];
}

/** Sections in the order they were written; an acknowledgement that was cut short is passed over. */
function read(path: string): Section[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  let sections: Section[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const last = sections.at(-1);
    const acknowledged = /^(\d+) (\S{22})$/.exec(line);
    if (acknowledged) last?.batches.set(Number(acknowledged[1]), acknowledged[2] as string);
    if (!line.startsWith("{")) continue;
    const { contentHash, ...totals } = markOf(line);
    if (contentHash === undefined) {
      if (last) last.totals = totals;
    } else if (last?.contentHash !== contentHash || last.totals) {
      // An interrupted upload may have overwritten what an earlier one brought.
      if (last && !last.totals) sections = [];
      sections.push({ contentHash, batches: new Map() });
    }
  }
  return sections;
}

/** What begins or ends a section; one that was cut short begins a section of an unknown content. */
function markOf(line: string): { readonly contentHash?: string } & Totals {
  try {
    return JSON.parse(line);
  } catch {
    return { contentHash: "unknown", recordCount: 0, failedCount: 0 };
  }
}
