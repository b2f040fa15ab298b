import { LRUCache } from "lru-cache";
import { unknownKey } from "../../../contract/messages";
import { type Compiled, type Contents, compile, contentsOf, type Known } from "../../../expressions/compile";
import { declaredKinds } from "../../../expressions/declared";
import { ANY } from "../../../expressions/kinds";
import { ExpressionError, loadParser, type Node } from "../../../expressions/parse";
import { listOf } from "../../../expressions/values";
import { type AttributeSchema, type Attributes, attributeOf } from "../../algorithms";
import { ServiceError } from "../../base/error";
import { Turns } from "../../base/event-loop";
import { mayRead, type Readable, requireCheap, requireReadable } from "./admission";
import { Column, interpreted } from "./column";
import { type Input, matching } from "./evaluate";
import { ItemTable, type ReadItems } from "./item-table";
import { MaskCache } from "./kept-masks";

/** Maximum size of the results in memory, in bytes. */
const maxResultBytes = 64 * 1024 * 1024;

/** Maximum number of different item attributes in one expression. */
const maxAttributes = 32;

/** Maximum size of the compiled expressions of a deployment, and of all parsed expressions, in bytes. */
const maxCompiledBytes = 32 * 1024 * 1024;

/** A parsed expression. */
interface Parsed extends Contents {
  readonly node: Node;
}

/** Estimated size of a parsed or compiled expression in bytes. */
function bytesOf(text: string, { parts }: Contents): number {
  return 1000 + 2 * text.length + 1000 * parts;
}

/** Parsed expressions of all deployments. */
const parsed = new LRUCache<string, Parsed>({
  maxSize: maxCompiledBytes,
  sizeCalculation: (contents, text) => bytesOf(text, contents),
});

/** Parses and evaluates expressions, so many expensive filters do not delay calls without a filter. */
const turns = new Turns();

async function parsedOf(text: string): Promise<Parsed> {
  const known = parsed.get(text);
  if (known) return known;
  const parse = await loadParser();
  return turns.run(() => {
    const node = parse(text);
    const found = { node, ...contentsOf(node) };
    parsed.set(text, found);
    return found;
  });
}

/** The items that a filter matches. */
interface Result {
  readonly items: Uint32Array;
  /** The number of items and the versions of the columns that were read. */
  readonly stamp: string;
}

/** Who wrote an expression: a caller, who may name a user or not, or the rules of the deployment. */
type Mode = "user" | "item" | "rule";

/** Every attribute may be missing, and may have values of any kind. */
const anything: Known = { kindsOf: () => ANY, names: () => [] };

/** The user for whom a filter is evaluated. */
export interface FilteredFor {
  /** Reads the attributes of the user. Called only if the filter reads them. */
  attributes(): Promise<Attributes | undefined>;
  /** The reason if the filter cannot read a user. */
  readonly noUser?: string | undefined;
  /** What the filter may read. By default everything. */
  readonly readable?: Readable | undefined;
}

/** Finds the items of a deployment that match filters. Keeps the compiled filters and their results. */
export class ItemFilters {
  private readonly table: ItemTable;
  /** Schema of the user dataset. */
  private readonly users: AttributeSchema | null;
  /** Empty column, for an attribute that no item has. */
  private readonly nothing = new Column();
  private readonly masks = new MaskCache();
  private readonly compiled = new LRUCache<string, { readonly compiled: Compiled; readonly version: number }>(
    {
      maxSize: maxCompiledBytes,
    },
  );
  private readonly results = new LRUCache<string, Result>({
    maxSize: maxResultBytes,
    sizeCalculation: ({ items, stamp }, key) => items.byteLength + 2 * (key.length + stamp.length) + 200,
  });

  constructor(
    read: ReadItems,
    private readonly items: {
      readonly ids: readonly string[];
      find(id: string): number | undefined;
    },
    schemas: { readonly items: AttributeSchema | null; readonly users: AttributeSchema | null },
  ) {
    this.table = new ItemTable(read, (id) => items.find(id), schemas.items);
    this.users = schemas.users;
  }

  /**
   * Reads the attributes that the filters of the previous deployment used, so the first call does not have to wait for
   * that. Does nothing if there were no filters.
   */
  async prepareLike(previous: ItemFilters): Promise<void> {
    const { names } = previous.table;
    if (names.length > 0) await this.table.columnsOf(names);
  }

  /** Updates the attributes of an item whose record was written. */
  changed(item: number, attributes: Attributes): void {
    this.table.changed(item, attributes);
  }

  /** Returns the numbers of the items that match a filter, ascending. Throws if the expression is invalid. */
  async matching(text: string, by: FilteredFor): Promise<Uint32Array> {
    try {
      return await this.find(text, by, by.noUser === undefined ? "user" : "item");
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const details = [{ path: "filter_query", message: error.message }];
      throw new ServiceError("BAD_REQUEST", "The request is invalid. See `details`.", { details });
    }
  }

  /**
   * Returns the numbers of the items that match an expression of a rule, ascending. A deployed rule must not make calls
   * fail, so an attribute that no record has any more is missing for all items, and values of another kind do not match.
   */
  matchingRule(text: string, by: FilteredFor): Promise<Uint32Array> {
    return this.find(text, by, "rule");
  }

  /** Whether an expression of a rule is true for one item. */
  async holds(text: string, item: number, by: FilteredFor): Promise<boolean> {
    const { compiled, columns, user } = await this.compiledFor(text, by, "rule");
    const values = compiled.item.map((name) => valueIn(columns.get(name), item));
    return compiled.root.evaluate({ item: values, user, variables: [], memo: [] }) === true;
  }

  /** Returns a function from an item to its values of an attribute. A category is treated as a list of one. */
  async valuesOf(attribute: string): Promise<(item: number) => readonly unknown[]> {
    const column = (await this.table.columnsOf([attribute])).get(attribute);
    return (item) => listOf(valueIn(column, item));
  }

  /** Throws an ExpressionError if an expression is invalid, as `matching` does. */
  async check(text: string): Promise<void> {
    const { compiled, columns, user } = await this.compiledFor(
      text,
      { attributes: async () => undefined },
      "user",
    );
    requireCheap(compiled, this.inputOf(compiled, columns, user));
  }

  /** Returns an error if no record and no schema has an attribute. */
  async attributeError(name: string): Promise<string | undefined> {
    await this.table.columnsOf([name]);
    const known = this.known({ attributes: async () => undefined });
    return known.kindsOf("item", name) === undefined ? unknownKey(name, known.names("item")) : undefined;
  }

  private async compiledFor(text: string, by: FilteredFor, mode: Mode) {
    const contents = await parsedOf(text);
    // Checked before the expression is compiled, whose errors suggest names of attributes.
    requireReadable(contents, by.readable);
    if (contents.item.length > maxAttributes)
      throw new ExpressionError(0, `the expression reads more than ${maxAttributes} attributes`);
    const columns = await this.table.columnsOf(contents.item);
    const compiled =
      this.compiledAs(text, mode) ?? (await turns.run(() => this.compile(text, contents, mode, by)));
    requireReadable(compiled, by.readable);
    const attributes = compiled.user.length > 0 ? await by.attributes() : undefined;
    return { compiled, columns, user: compiled.user.map((name) => this.userValue(attributes, name)) };
  }

  private async find(text: string, by: FilteredFor, mode: Mode): Promise<Uint32Array> {
    const { compiled, columns, user: values } = await this.compiledFor(text, by, mode);
    const key = JSON.stringify([text, ...values]);
    const input = this.inputOf(compiled, columns, values);
    const stamp = `${input.items}:${input.columns.map(({ version }) => version).join()}`;
    const known = this.results.get(key);
    if (known?.stamp === stamp) return known.items;
    return turns.run(() => {
      if (mode !== "rule") requireCheap(compiled, input);
      const items = matching(compiled, input, this.masks);
      this.results.set(key, { items, stamp });
      return items;
    });
  }

  private inputOf({ item }: Compiled, columns: ReadonlyMap<string, Column>, user: readonly unknown[]): Input {
    const items = this.items.ids.length;
    return {
      columns: item.map((name) => {
        const column = columns.get(name) ?? this.nothing;
        column.grow(items);
        return column;
      }),
      user,
      items,
    };
  }

  private compiledAs(text: string, mode: Mode): Compiled | undefined {
    const cached = this.compiled.get(`${mode} ${text}`);
    return cached?.version === this.table.kinds.version ? cached.compiled : undefined;
  }

  private compile(text: string, contents: Parsed, mode: Mode, by: FilteredFor): Compiled {
    const { version } = this.table.kinds;
    const compiled = compile(contents.node, mode === "rule" ? anything : this.known(by));
    const size = bytesOf(text, contents);
    this.compiled.set(`${mode} ${text}`, { compiled, version }, { size });
    return compiled;
  }

  private known({ noUser, readable }: FilteredFor): Known {
    const { kinds, schema } = this.table;
    return {
      noUser,
      kindsOf: (of, name) =>
        of === "item" ? declaredKinds(schema, name, kinds.byName.get(name)) : this.userKinds(name),
      names: (of) =>
        (of === "item"
          ? [...new Set([...kinds.byName.keys(), ...Object.keys(schema ?? {})])]
          : Object.keys(this.users ?? {})
        ).filter((name) => mayRead(readable, of, name)),
    };
  }

  /** Without a schema, any user attribute is valid, because nobody knows all records of users. */
  private userKinds(name: string): number | undefined {
    return this.users ? declaredKinds(this.users, name) : ANY;
  }

  private userValue(user: Attributes | undefined, name: string): unknown {
    const handling = this.users && Object.hasOwn(this.users, name) ? this.users[name] : undefined;
    return interpreted(attributeOf(user, name), handling) ?? null;
  }
}

function valueIn(column: Column | undefined, item: number): unknown {
  return column?.values[column.codes[item] ?? 0] ?? null;
}
