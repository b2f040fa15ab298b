import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Context } from "../run/context";
import { mayHaveArguments } from "../run/killed-step";
import type { JournalEntry } from "./journal-entry";

const keyPrefix = "noted-";

/** Whether a call is known only from the engine's note in the state. Its real idempotency key is then unknown. */
export function isOfNote({ key }: Pick<JournalEntry, "key">): boolean {
  return key.startsWith(keyPrefix);
}

/**
 * Returns a create that was killed on another machine, according to the engine's note in the state. It is unknown
 * whether the create was sent. A create with different arguments is reported as possibly orphaned and not returned.
 */
export async function entryOfNote(
  context: Context,
  call: Pick<JournalEntry, "service" | "path" | "identity">,
  isNamed: boolean,
): Promise<JournalEntry | undefined> {
  const { urn = "", run, step, clock } = context;
  if (!step) return undefined;
  const killed = await run.initial.killedElsewhere(urn, step.isCreate);
  if (killed.length === 0) return undefined;
  const same = killed.find(({ inputs }) => isNamed || mayHaveArguments(inputs, step.args));
  if (!same) {
    await run.warnOnce(
      urn,
      `a run that was killed on another machine may have called ${call.path} with different arguments; ` +
        "if so, the object that it created is orphaned",
    );
    return undefined;
  }
  const { name } = same.inputs;
  const lineage = await run.initial.lineage({ urn });
  return {
    ...call,
    urn,
    ...(lineage && { lineage }),
    ...(typeof name === "string" && { request: { name } }),
    key: keyPrefix + randomUUID(),
    derived: false,
    at: new Date(clock.now()).toISOString(),
    pid: process.pid,
    host: hostname(),
  };
}
