import { engineAddress } from "./engine";
import { type Cli, type ExportedState, exportState, pulumiCli, StackStateError } from "./stack-state";
import type { Properties } from "./state-entry";
import { canonicalUrn, partsOf } from "./urn";

/** A create or an update that the engine began in an earlier run and has not recorded the end of. */
export interface PendingOperation {
  readonly urn: string;
  /** What the resource was declared with in that run. */
  readonly inputs: Properties;
  /** Whether it is a create. The engine keeps its note of a create until a refresh clears it, whatever happens since. */
  readonly isCreate: boolean;
}

/**
 * What the last run of a stack had begun when its engine was killed, on whatever machine. The engine notes each operation
 * in the state before it calls the provider. The next run drops the notes of updates with its first write, so they are
 * read once, early.
 */
export class PendingOperations {
  #found: Promise<readonly PendingOperation[] | undefined> | undefined;

  constructor(
    /** Reads the pending operations of the stack that a resource belongs to. */
    private readonly read: (urn: string) => Promise<readonly PendingOperation[]> = readPending,
  ) {}

  /** Reads the state, unless this run has read it before. @returns undefined if it cannot be read */
  load(urn: string | undefined): Promise<readonly PendingOperation[] | undefined> {
    this.#found ??= this.read(urn ?? "").catch(() => undefined);
    return this.#found;
  }

  /** The pending operations of a resource; undefined if the state cannot be read. */
  async of(urn: string | undefined): Promise<PendingOperation[] | undefined> {
    const own = canonicalUrn(urn ?? "");
    const found = await this.load(urn);
    return found?.filter((operation) => canonicalUrn(operation.urn) === own);
  }
}

const timeoutMs = 30_000;

/** Reads the pending operations of a stack with the Pulumi CLI, and throws if it cannot show that stack. */
export async function readPending(
  urn: string,
  cli: Cli = pulumiCli({ timeoutMs }),
): Promise<PendingOperation[]> {
  // Only a process that an engine started belongs to a stack.
  if (engineAddress() === undefined) return [];
  const { stack, project } = partsOf(urn);
  const isOfStack = ({ resources = [] }: ExportedState) =>
    resources.some((row) => partsOf(row.urn).stack === stack && partsOf(row.urn).project === project);
  const isEmpty = ({ resources = [], pending_operations = [] }: ExportedState) =>
    resources.length + pending_operations.length === 0;
  const named = await exportState(["--stack", stack], cli).catch(() => undefined);
  if (named && (isOfStack(named) || isEmpty(named))) return pendingIn(named);
  const selected = await exportState([], cli);
  if (isOfStack(selected)) return pendingIn(selected);
  throw new StackStateError(`\`pulumi stack export\` does not show stack ${stack} of project ${project}`);
}

function pendingIn({ pending_operations = [] }: ExportedState): PendingOperation[] {
  return pending_operations.flatMap(({ type, resource }) =>
    type === "creating" || type === "updating"
      ? [{ urn: resource.urn, inputs: resource.inputs ?? {}, isCreate: type === "creating" }]
      : [],
  );
}
