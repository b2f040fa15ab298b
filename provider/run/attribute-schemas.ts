import { type Handling, isHandling } from "../../expressions/declared";
import type { Urn } from "./engine";
import { isSecret } from "./secrecy";

/** Schemas of a project's datasets. Null if a dataset declares none. */
export interface Schemas {
  readonly items: Handling | null;
  readonly users: Handling | null;
}

/** Attribute schemas that the program declares. A preview validates the expressions of rules with them. */
export class AttributeSchemas {
  readonly #items = new Map<Urn, Handling | null>();
  readonly #users = new Map<Urn, Handling | null>();
  /** Whether a schema is secret, so errors of other resources must not name its attributes. */
  hasSecrets = false;

  /** Adds the schema of a declared dataset. An unknown schema counts as none. */
  declare(kind: "item" | "user", urn: Urn, schema: unknown): void {
    this.hasSecrets ||= isSecret("attributeSchema");
    const schemas = kind === "item" ? this.#items : this.#users;
    schemas.set(urn, isHandling(schema) ? schema : null);
  }

  /**
   * Returns the schemas that a project of the program can have: each declared item dataset with each declared user
   * dataset.
   */
  candidates(): Schemas[] {
    const [items, users] = [this.#items, this.#users].map((of) => (of.size > 0 ? [...of.values()] : [null]));
    return (items ?? []).flatMap((item) => (users ?? []).map((user) => ({ items: item, users: user })));
  }
}
