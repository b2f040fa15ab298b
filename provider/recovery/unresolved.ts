import { OutcomeUnknownError } from "../../client/client";
import { accountOf } from "../run/account";
import type { Context } from "../run/context";
import { logicalName, partsOf } from "../run/urn";
import type { AnyCreation } from "./creation";
import { isRecent } from "./earlier-run";
import type { Candidates } from "./evidence";
import type { JournalEntry } from "./journal";
import { isOfNote } from "./killed-elsewhere";
import { UnknownCreationError } from "./unknown-creation";

/** Facts about a lost call that the user must decide about. */
export interface Unresolved extends Candidates {
  /** Error of this run's call. Undefined if an earlier run sent the call. */
  readonly lost: OutcomeUnknownError | undefined;
  /** Whether this stack is known to have sent the call. */
  readonly isSent: boolean;
  /** Whether only the engine's note in the state shows the call. */
  readonly isNoted: boolean;
}

/** Returns the error that asks the user to decide about a lost call. */
export async function unresolved(
  context: Context,
  { route, findLost, adopt: adoptsJob }: AnyCreation,
  entry: JournalEntry,
  { ids, unread, lost, isSent, isNoted }: Unresolved,
): Promise<UnknownCreationError> {
  const runEnded = () =>
    new Error(
      isOfNote(entry)
        ? "a run was killed during this call on another machine, which has the recovery journal; the state only has the engine's note"
        : `${writerOf(entry, context, isSent)} was interrupted before the response`,
    );
  const isUpdate = context.step?.isCreate === false;
  const keyHolds =
    lost && isRecent(entry, context) && (await context.client.honoursKeys().catch(() => false));
  const fix = keyHolds
    ? "Run `pulumi up` again to repeat the call with the same idempotency key."
    : findLost?.fix;
  return new UnknownCreationError(
    lost ?? new OutcomeUnknownError(route, entry.key, runEnded()),
    entry.identity,
    {
      name: logicalName(context.urn),
      candidates: ids,
      unread,
      fix,
      at: Date.parse(entry.at),
      // The engine keeps its note of a killed create, but drops its note of a killed update, which then needs a
      // placeholder.
      hasPlaceholder: isSent || (isNoted && isUpdate),
      isNotedCreate: isNoted && !isUpdate,
      hasExistingId: adoptsJob === undefined,
    },
  );
}

/**
 * Describes the run that sent a call. It may be a run of this stack under a former name, or of another stack with the
 * same name.
 */
function writerOf(
  { urn, at, account }: JournalEntry,
  { urn: own, settings }: Context,
  isSent: boolean,
): string {
  const { stack } = partsOf(urn);
  const isOfName = stack === partsOf(own).stack;
  const doubt = isOfName ? "another stack may have had that name" : "it may be a former name of this stack";
  const ofStack = isSent && isOfName ? "" : ` of stack ${stack} (${doubt})`;
  const withKey = account === undefined || account === accountOf(settings) ? "" : " with a different API key";
  return `the run${ofStack} of ${at}${withKey}`;
}
