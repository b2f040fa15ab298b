import { entriesOf, eraseStored } from "../recovery/journal";
import { cliStackState } from "../run/stack-state";
import { isSameEntry, type Properties, type StateEntry, stateEntryOf } from "../run/state-entry";
import { unsealed } from "./values";

/** How long the state may take to be read at the end of a run; the engine kills the process after 5 s. */
const timeoutMs = 3_000;

/** What this process has told the engine, and the values by which the journal knows what was created. */
const told = new Map<string, { readonly row: StateEntry; readonly values: ReadonlySet<unknown> }>();

/** Remembers what the engine is about to store. */
export function storing(type: string, urn: string, id: string, state: Properties): void {
  told.set(urn, {
    row: { ...stateEntryOf(type, id, state), urn },
    values: new Set([id, ...Object.values(unsealed(state))]),
  });
}

/**
 * Erases from the journal what the state of the stack holds by now. A program in TypeScript has done so, for the engine
 * tells it; in any other language nobody is told, and a later creation would resume what is long stored.
 */
export async function eraseWhatIsStored(): Promise<void> {
  const open = [...told.values()].filter(({ row }) => entriesOf(row.urn).length > 0);
  const [first] = open;
  if (!first) return;
  const rows = await cliStackState({ timeoutMs }).entries(first.row);
  for (const { row, values } of open)
    if (rows.some((stored) => isSameEntry(stored, row))) await eraseStored(row.urn, values);
}
