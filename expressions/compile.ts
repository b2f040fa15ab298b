import { truncate, unknownKey } from "../contract/messages";
import { callOf, type Methods } from "./calls";
import { sizeOf } from "./cost";
import { ANY, type Kinds, kindOf, LIST, MAP, NULL } from "./kinds";
import { binary, conditional, logical, negative, not, requireBool, requireKinds } from "./operators";
import { ExpressionError, isNode, type Node } from "./parse";
import { leaf, type Part, partOf } from "./part";
import { at as valueAt } from "./values";

/** The attributes that an expression can read. */
export interface Known {
  /** Returns the kinds of values of an attribute, or undefined if no record and no schema has it. */
  kindsOf(of: "item" | "user", name: string): Kinds | undefined;
  /** Returns names for a suggestion. */
  names(of: "item" | "user"): readonly string[];
  /** The reason if expressions cannot read the user. */
  readonly noUser?: string | undefined;
}

/** An expression that is ready to be evaluated. */
export interface Compiled {
  readonly root: Part;
  /** Names of the item attributes, by their place in a scope. */
  readonly item: readonly string[];
  /** Names of the user attributes, by their place in a scope. */
  readonly user: readonly string[];
}

/** Compiles an expression. Throws an ExpressionError if it reads unknown attributes or if its types do not match. */
export function compile(node: Node, known: Known): Compiled {
  const compiler = new Compiler(known);
  const root = compiler.part(node);
  requireBool(root, "the expression");
  return { root, item: [...compiler.item.keys()], user: [...compiler.user.keys()] };
}

/** What an expression reads, and how large it is. */
export interface Contents {
  /** Names of the item attributes. */
  readonly item: readonly string[];
  /** Names of the user attributes. */
  readonly user: readonly string[];
  /** Number of parts. */
  readonly parts: number;
}

/** Returns what an expression reads. Does not check whether that exists. */
export function contentsOf(node: Node): Contents {
  const names = { item: new Set<string>(), user: new Set<string>() };
  let parts = 0;
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) for (const one of part) visit(one);
    if (!isNode(part)) return;
    parts++;
    const named = attributeIn(part);
    if (named) names[named.of].add(named.name);
    visit(part.args);
  };
  visit(node);
  return { item: [...names.item], user: [...names.user], parts };
}

/** Returns the attribute that `item.price` or `item["price"]` names. */
function attributeIn(node: Node): { of: "item" | "user"; name: string } | undefined {
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [base, key] = node.args;
  if (base.op !== "id" || (base.args !== "item" && base.args !== "user")) return undefined;
  const name = typeof key === "string" ? key : key.op === "value" ? key.args : undefined;
  return typeof name === "string" ? { of: base.args, name } : undefined;
}

class Compiler implements Methods {
  /** Places of the attributes by name. */
  readonly item = new Map<string, number>();
  readonly user = new Map<string, number>();
  private readonly variables: string[] = [];
  private memos = 0;

  constructor(private readonly known: Known) {}

  readonly memoPlace = (): number => this.memos++;

  part(node: Node): Part {
    switch (node.op) {
      case "value":
        return constant(node);
      case "id":
        return this.variable(node.start, node.args);
      case ".":
      case "[]":
        return this.access(node);
      case "call":
        return callOf(this, node, node.args[0], undefined, node.args[1]);
      case "rcall":
        return callOf(this, node, node.args[0], node.args[1], node.args[2]);
      case "list":
        return this.list(node);
      case "?:": {
        const [condition, yes, no] = node.args.map((one) => this.part(one)) as [Part, Part, Part];
        return conditional(condition, yes, no);
      }
      case "!_":
        return not(node.start, this.part(node.args));
      case "-_":
        return negative(node.start, this.part(node.args));
      case "&&":
      case "||":
        return logical(node.op, this.part(node.args[0]), this.part(node.args[1]));
      case "map":
      case ".?":
      case "[?]":
        throw new ExpressionError(node.start, "maps and optional values are not supported");
      default:
        return binary(node.op, node.start, this.part(node.args[0]), this.part(node.args[1]), this.memoPlace);
    }
  }

  within<T>(name: string, work: () => T): T {
    this.variables.push(name);
    try {
      return work();
    } finally {
      this.variables.pop();
    }
  }

  get depth(): number {
    return this.variables.length;
  }

  private variable(at: number, name: string): Part {
    const place = this.variables.lastIndexOf(name);
    if (place >= 0)
      return leaf(at, ANY, ({ variables }) => variables[place] ?? null, {
        readsVariable: true,
        size: ({ variables }) => variables[place] as number,
      });
    if (name === "item" || name === "user")
      throw new ExpressionError(at, `name an attribute of ${name}, as in ${name}.country`);
    const attribute = this.known.names("item").includes(name) ? `; did you mean item.${name}?` : "";
    throw new ExpressionError(
      at,
      `${truncate(name)} is unknown${attribute || "; an expression can only read item and user"}`,
    );
  }

  private access(node: Extract<Node, { op: "." | "[]" }>): Part {
    const named = attributeIn(node);
    if (named) return this.attribute(node.start, named.of, named.name);
    const base = this.part(node.args[0]);
    const [, key] = node.args;
    const place = typeof key === "string" ? constantOf(node.pos, key) : this.part(key);
    requireKinds(base, typeof key === "string" ? MAP : MAP | LIST, "the value before an index or a field");
    return partOf({
      at: node.start,
      kinds: ANY,
      parts: [base, place],
      size: ([of = 1]) => of,
      combine: valueAt,
    });
  }

  private attribute(at: number, of: "item" | "user", name: string): Part {
    if (of === "user" && this.known.noUser) throw new ExpressionError(at, this.known.noUser);
    const kinds = this.known.kindsOf(of, name);
    if (kinds === undefined) {
      const what = unknownKey(name, this.known.names(of)).replace(/did you mean /, `did you mean ${of}.`);
      throw new ExpressionError(at, `${of}.${what}`);
    }
    const places = this[of];
    const place = places.get(name) ?? places.size;
    places.set(name, place);
    if (of === "item")
      return leaf(at, kinds | NULL, ({ item }) => item[place] ?? null, {
        items: new Set([place]),
        size: ({ item }) => item[place] as number,
      });
    return leaf(at, kinds | NULL, ({ user }) => user[place] ?? null, {
      readsUser: true,
      size: ({ user }) => user[place] as number,
    });
  }

  private list({ start, args }: Extract<Node, { op: "list" }>): Part {
    // A long list of constants as one constant takes less memory than each of them as a part.
    const values = args.map((one) => (one.op === "value" ? plainValue(one) : undefined));
    if (args.length > 0 && !values.includes(undefined)) return constantOf(start, values);
    const parts = args.map((one) => this.part(one));
    const combine = (...values: unknown[]) => values;
    const kinds = parts.reduce<Kinds>((sum, one) => sum | one.kinds, 0);
    return partOf({
      at: start,
      kinds: LIST,
      parts,
      elements: parts.length > 0 ? kinds : undefined,
      work: (sizes) => sizes.length,
      size: (sizes) => sizes.reduce((sum, size) => sum + size, 1),
      combine,
      evaluate: (scope) => parts.map((one) => one.evaluate(scope)),
    });
  }
}

function constant(node: Extract<Node, { op: "value" }>): Part {
  return constantOf(node.start, plainValue(node));
}

function constantOf(at: number, value: unknown): Part {
  const size = sizeOf(value);
  const elements = Array.isArray(value)
    ? value.reduce<Kinds>((kinds, one) => kinds | kindOf(one), 0)
    : undefined;
  return leaf(at, kindOf(value), () => value, { size: () => size, elements });
}

function plainValue({ args, start }: Extract<Node, { op: "value" }>): string | number | boolean | null {
  if (args === null || typeof args === "string" || typeof args === "boolean" || typeof args === "number")
    return args;
  if (args instanceof Uint8Array) throw new ExpressionError(start, "bytes are not supported; use text");
  const number = Number(typeof args === "bigint" ? args : args.valueOf());
  if (Number.isSafeInteger(number)) return number;
  throw new ExpressionError(start, "the whole number is too large; numbers have 15 digits");
}
