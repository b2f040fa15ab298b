import type { KeptIn, RecommendedItem } from "./types.js";

/** Maximum number of lists in memory, and in the storage of a browser. */
const [maxLists, maxStored] = [1000, 20];

const storedAs = "recommender";

interface Kept {
  readonly items: readonly RecommendedItem[];
  readonly ts: number;
}

/** Keeps earlier lists for calls that fail. */
export class KeptLists {
  private readonly lists = new Map<string, Kept>();

  constructor(
    private readonly storage: KeptIn | null,
    private readonly keepMs: number,
  ) {
    for (const [question, kept] of this.stored()) this.lists.set(question, kept);
  }

  /** Returns the list that a question had, unless it is too old. */
  find(question: string): readonly RecommendedItem[] | undefined {
    const kept = this.lists.get(question);
    return kept && Date.now() - kept.ts < this.keepMs ? kept.items : undefined;
  }

  /** Whether a list is younger than a part of its maximum age. */
  isFresh(question: string, part: number): boolean {
    const kept = this.lists.get(question);
    return kept !== undefined && Date.now() - kept.ts < this.keepMs * part;
  }

  /** Keeps a list. The lists that were written first are dropped if there are too many. */
  keep(question: string, items: readonly RecommendedItem[]): void {
    this.lists.delete(question);
    this.lists.set(question, { items, ts: Date.now() });
    for (const oldest of this.lists.keys()) {
      if (this.lists.size <= maxLists) break;
      this.lists.delete(oldest);
    }
    try {
      this.storage?.setItem(storedAs, JSON.stringify([...this.lists].slice(-maxStored)));
    } catch {
      // The storage is full or forbidden. The lists stay in memory.
    }
  }

  /** Reads the storage. Other scripts of the page can write anything into it. */
  private stored(): [string, Kept][] {
    try {
      const found: unknown = JSON.parse(this.storage?.getItem(storedAs) ?? "[]");
      return Array.isArray(found) ? found.filter(isStored) : [];
    } catch {
      return [];
    }
  }
}

function isStored(entry: unknown): entry is [string, Kept] {
  if (!Array.isArray(entry) || typeof entry[0] !== "string") return false;
  const { items, ts } = (entry[1] ?? {}) as Partial<Kept>;
  const isItem = (one: Partial<RecommendedItem> | null) =>
    typeof one?.itemId === "string" && typeof one.attributes === "object" && one.attributes !== null;
  return typeof ts === "number" && Array.isArray(items) && items.every(isItem);
}
