import { fieldReader, type Mapping } from "./mapping/mapping";
import { readRows, type SourceFile } from "./source";

/** Maximum number of types in the result. A wrong column may have a different text in every row. */
const maxTypes = 100;

/** Result of a search for an event type. */
export interface TypeSearch {
  readonly isThere: boolean;
  /**
   * Other types that were read before the search ended. If the type was not found, these are all types, up to the
   * maximum.
   */
  readonly others: readonly string[];
}

/**
 * Searches a source for an event type. Stops at the first match, so it reads the whole source only if there is no
 * match.
 */
export async function findEventType(
  files: readonly SourceFile[],
  mapping: Mapping,
  type: string,
): Promise<TypeSearch> {
  const read = fieldReader("eventType", mapping);
  const others = new Set<string>();
  for (const file of files) {
    for await (const rows of readRows(file)) {
      for (const { columns } of rows) {
        const found = columns && read(columns);
        if (found === undefined || found === null || found === "") continue;
        if (String(found) === type) return { isThere: true, others: [...others] };
        if (others.size < maxTypes) others.add(String(found));
      }
    }
  }
  return { isThere: false, others: [...others] };
}
