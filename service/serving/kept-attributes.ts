import type { JsonMap } from "../../contract";

/** JSON characters of the records that are kept; as objects they take some times as many bytes. */
const mostCharacters = 16 * 1024 * 1024;

interface Row {
  readonly record_id: string;
  readonly attributes: string;
}

/** The attributes of the items that were asked for lately. */
export class KeptAttributes {
  private readonly kept = new Map<string, JsonMap>();
  private characters = 0;
  private changes = 0;

  constructor(
    private readonly read: (itemIds: readonly string[]) => Promise<readonly Row[]>,
    private readonly most = mostCharacters,
  ) {}

  /** The attributes of items; none of those that have no record. */
  async of(itemIds: readonly string[]): Promise<Map<string, JsonMap>> {
    const found = new Map(itemIds.map((id) => [id, this.kept.get(id)]));
    const missing = itemIds.filter((id) => !found.get(id));
    for (const id of missing) found.set(id, {});
    if (missing.length === 0) return found as Map<string, JsonMap>;
    const { changes } = this;
    const rows = await this.read(missing);
    for (const row of rows) found.set(row.record_id, JSON.parse(row.attributes));
    // What was written while it was read may be newer.
    if (changes === this.changes) {
      const size = [...missing, ...rows.map((row) => row.attributes)].reduce(
        (sum, text) => sum + text.length,
        0,
      );
      if (this.characters + size > this.most) this.clear();
      if (size <= this.most) {
        this.characters += size;
        for (const id of missing) this.kept.set(id, found.get(id) as JsonMap);
      }
    }
    return found as Map<string, JsonMap>;
  }

  /** Takes note that the records of items were written. */
  changed(itemIds: Iterable<string>): void {
    this.changes++;
    for (const id of itemIds) this.kept.delete(id);
  }

  private clear(): void {
    this.kept.clear();
    this.characters = 0;
  }
}
