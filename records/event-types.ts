import { fieldReader, type Mapping } from "./mapping/mapping";
import { readRows, type SourceFile } from "./source";

/** Types that a search remembers; a wrong column may hold another text in every row. */
const mostTypes = 100;

/** What a search for an event type found. */
export interface TypeSearch {
  readonly isThere: boolean;
  /** Other types that were seen before the search ended; all types if it found nothing. */
  readonly others: readonly string[];
}

/** Looks for events of a type in a source. It stops at the first one, so only a search in vain reads everything. */
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
        if (others.size < mostTypes) others.add(String(found));
      }
    }
  }
  return { isThere: false, others: [...others] };
}
