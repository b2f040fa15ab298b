import { entriesOf, eraseStored } from "../recovery/journal";
import { cliStackState } from "../run/stack-state";
import { isSameEntry, type Properties, type StateEntry, stateEntryOf } from "../run/state-entry";
import { unsealed } from "./values";

/** Timeout for reading the state at the end of a run. The engine kills the process after 5 s. */
const timeoutMs = 3_000;

/** State that this process has returned to the engine, by URN, and the values that identify its journal entries. */
const returned = new Map<string, { readonly row: StateEntry; readonly values: ReadonlySet<unknown> }>();

/** Remembers state that the engine is about to store. */
export function rememberState(type: string, urn: string, id: string, state: Properties): void {
  returned.set(urn, {
    row: { ...stateEntryOf(type, id, state), urn },
    values: new Set([id, ...Object.values(unsealed(state))]),
  });
}

/**
 * Erases the journal entries of objects that are in the stack's state. A TypeScript program has done this already. In
 * other languages, nothing reports which objects the engine has stored. With its entry, a later create would use such
 * an object again.
 */
export async function eraseStoredEntries(): Promise<void> {
  const open = [...returned.values()].filter(({ row }) => entriesOf(row.urn).length > 0);
  const [first] = open;
  if (!first) return;
  const rows = await cliStackState({ timeoutMs }).entries(first.row);
  for (const { row, values } of open)
    if (rows.some((stored) => isSameEntry(stored, row))) await eraseStored(row.urn, values);
}
