import { LRUCache } from "lru-cache";
import type { JsonMap } from "../../contract";

/** JSON characters of the records that are kept; as objects they take some times as many bytes. */
const mostCharacters = 16 * 1024 * 1024;

interface Row {
  readonly record_id: string;
  readonly attributes: string;
}

/** The attributes of the items that were asked for lately. */
export class KeptAttributes {
  private readonly kept: LRUCache<string, JsonMap>;
  private changes = 0;

  constructor(
    private readonly read: (itemIds: readonly string[]) => Promise<readonly Row[]>,
    maxSize = mostCharacters,
  ) {
    this.kept = new LRUCache({ maxSize });
  }

  /** The attributes of items; none of those that have no record. */
  async of(itemIds: readonly string[]): Promise<Map<string, JsonMap>> {
    const found = new Map(itemIds.map((id) => [id, this.kept.get(id)]));
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
    // A record that was written meanwhile may be newer than the one that was read.
    if (changes === this.changes)
      for (const [id, size] of sizes) this.kept.set(id, found.get(id) as JsonMap, { size });
    return found as Map<string, JsonMap>;
  }

  /** Takes note that the records of items were written. */
  changed(itemIds: Iterable<string>): void {
    this.changes++;
    for (const id of itemIds) this.kept.delete(id);
  }
}
