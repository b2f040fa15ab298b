import { LRUCache } from "lru-cache";
import type { JsonMap } from "../../contract";

/** Maximum size of the cache in JSON characters. Parsed records take several times as many bytes. */
const maxCharacters = 16 * 1024 * 1024;

interface Row {
  readonly record_id: string;
  readonly attributes: string;
}

/** Caches the attributes of recently requested items. */
export class CachedAttributes {
  private readonly items: LRUCache<string, JsonMap>;
  private changes = 0;

  constructor(
    private readonly read: (itemIds: readonly string[]) => Promise<readonly Row[]>,
    maxSize = maxCharacters,
  ) {
    this.items = new LRUCache({ maxSize });
  }

  /** Returns the attributes of items. They are an empty object for an item without a record. */
  async of(itemIds: readonly string[]): Promise<Map<string, JsonMap>> {
    const found = new Map(itemIds.map((id) => [id, this.items.get(id)]));
    const missing = itemIds.filter((id) => !found.get(id));
    for (const id of missing) found.set(id, {});
    if (missing.length === 0) return found as Map<string, JsonMap>;
    const { changes } = this;
    const rows = await this.read(missing);
    const sizes = new Map(missing.map((id) => [id, id.length]));
    for (const { record_id: id, attributes } of rows) {
      found.set(id, JSON.parse(attributes));
      sizes.set(id, id.length + attributes.length);
    }
    // If a record was written during the read, the records that were read may be outdated, so they are not cached.
    if (changes === this.changes)
      for (const [id, size] of sizes) this.items.set(id, found.get(id) as JsonMap, { size });
    return found as Map<string, JsonMap>;
  }

  /** Drops the cached attributes of items whose records were written. */
  changed(itemIds: Iterable<string>): void {
    this.changes++;
    for (const id of itemIds) this.items.delete(id);
  }
}
