import { type RawBuilder, sql } from "kysely";

/**
 * Returns a comment that names a statement. With a name, PostgreSQL plans the statement once per connection, which is
 * only worth it for frequent statements. Never name a `select *`: its plan fails once a newer version adds a column.
 */
export function prepared(name: string): RawBuilder<unknown> {
  return sql.raw(`/* ${name} */`);
}

/** Returns the name that `prepared` gave a statement. */
export function preparedName(text: string): string | undefined {
  return /^\/\* ([\w-]+) \*\//.exec(text)?.[1];
}
