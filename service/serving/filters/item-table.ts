import { LRUCache } from "lru-cache";
import { type AttributeSchema, type Attributes, attributeOf } from "../../algorithms";
import { Column, interpreted, SeenKinds } from "./column";

/** Maximum number of attributes in memory. Reading another one drops the one that was not used for the longest time. */
const maxColumns = 64;

/** Reads the current records of all items. */
export type ReadItems = (visit: (itemId: string, attributes: string) => void) => Promise<void>;

/**
 * The attributes of items that filters read. They are read from the database when the first filter needs them, and
 * updated with every write from then on.
 */
export class ItemTable {
  readonly kinds = new SeenKinds();
  private readonly columns = new LRUCache<string, Column>({ max: maxColumns });
  /** Whether all records were read at least once, so all attributes are known. */
  private wasRead = false;
  private reading: Promise<void> | undefined;
  /** Records that were written while all records were being read. */
  private written: Map<number, Attributes> | undefined;

  constructor(
    private readonly read: ReadItems,
    private readonly numberOf: (itemId: string) => number | undefined,
    readonly schema: AttributeSchema | null,
  ) {}

  /** Names of the attributes in memory. */
  get names(): string[] {
    return [...this.columns.keys()];
  }

  /** Returns the values of attributes by name, without attributes that no item has. */
  async columnsOf(names: readonly string[]): Promise<ReadonlyMap<string, Column>> {
    while (names.length > 0) {
      const missing = names.filter((name) => !this.columns.has(name) && this.isKnown(name));
      if (missing.length === 0 && this.wasRead) break;
      // Callers that need other attributes wait for the same read, and then read the records again.
      this.reading ??= this.load(missing).finally(() => {
        this.reading = undefined;
      });
      await this.reading;
    }
    const found = names.map((name) => [name, this.columns.get(name)] as const);
    return new Map(found.filter((entry): entry is [string, Column] => entry[1] !== undefined));
  }

  /** Updates the attributes of an item whose record was written. */
  changed(item: number, attributes: Attributes): void {
    this.written?.set(item, attributes);
    for (const name of Object.keys(attributes)) this.see(name, attributes[name]);
    for (const [name, column] of this.columns.entries()) column.set(item, this.valueOf(name, attributes));
  }

  private isKnown(name: string): boolean {
    return !this.wasRead || this.kinds.byName.has(name) || this.hasInSchema(name);
  }

  private hasInSchema(name: string): boolean {
    return this.schema !== null && Object.hasOwn(this.schema, name);
  }

  private async load(names: readonly string[]): Promise<void> {
    const columns = new Map(names.map((name) => [name, new Column()]));
    const written = new Map<number, Attributes>();
    this.written = written;
    const set = (item: number, attributes: Attributes) => {
      for (const [name, column] of columns) column.set(item, this.valueOf(name, attributes));
    };
    try {
      await this.read((itemId, text) => {
        const attributes: Attributes = JSON.parse(text);
        for (const name of Object.keys(attributes)) this.see(name, attributes[name]);
        const item = this.numberOf(itemId);
        // The models learn about a new item in the next update, which then calls `changed`.
        if (item !== undefined) set(item, attributes);
      });
    } finally {
      this.written = undefined;
    }
    for (const [item, attributes] of written) set(item, attributes);
    for (const [name, column] of columns)
      if (this.kinds.byName.has(name) || this.hasInSchema(name)) this.columns.set(name, column);
    this.wasRead = true;
  }

  private see(name: string, value: unknown): void {
    this.kinds.see(name, this.handled(name, value));
  }

  private valueOf(name: string, attributes: Attributes): unknown {
    return this.handled(name, attributeOf(attributes, name));
  }

  private handled(name: string, value: unknown): unknown {
    return interpreted(value, this.hasInSchema(name) ? this.schema?.[name] : undefined);
  }
}
