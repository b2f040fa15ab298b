import { type RawBuilder, sql } from "kysely";

/**
 * Names a statement in a comment at its beginning, so PostgreSQL plans it once per connection. Only frequent statements
 * are worth it. Never name a `select *`: its plan fails once a newer version adds a column.
 */
export function prepared(name: string): RawBuilder<unknown> {
  return sql.raw(`/* ${name} */`);
}

/** Returns the name that `prepared` gave a statement. */
export function preparedName(text: string): string | undefined {
  return /^\/\* ([\w-]+) \*\//.exec(text)?.[1];
}
