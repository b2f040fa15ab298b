import { engineAddress } from "./engine";
import { type Cli, type ExportedState, exportState, pulumiCli, StackStateError } from "./stack-state";
import type { Properties } from "./state-entry";
import { canonicalUrn, partsOf } from "./urn";

/** Create or update that the engine started in an earlier run and never finished. */
export interface PendingOperation {
  readonly urn: string;
  /** Arguments of the resource in that run. */
  readonly inputs: Properties;
  /** Whether the operation is a create. The engine keeps its note of a create until a refresh clears it. */
  readonly isCreate: boolean;
}

/**
 * Operations that were running when the engine of the last run was killed, on any machine. The engine notes each operation
 * in the state before it calls the provider. The next run drops the notes of updates with its first write, so they are
 * read once, early.
 */
export class PendingOperations {
  #found: Promise<readonly PendingOperation[] | undefined> | undefined;

  constructor(
    /** Reads the pending operations of the stack that a resource belongs to. */
    private readonly read: (urn: string) => Promise<readonly PendingOperation[]> = readPending,
  ) {}

  /** Reads the state once per run. Returns undefined if it cannot be read. */
  load(urn: string | undefined): Promise<readonly PendingOperation[] | undefined> {
    this.#found ??= this.read(urn ?? "").catch(() => undefined);
    return this.#found;
  }

  /** Returns the pending operations of a resource, or undefined if the state cannot be read. */
  async of(urn: string | undefined): Promise<PendingOperation[] | undefined> {
    const own = canonicalUrn(urn ?? "");
    const found = await this.load(urn);
    return found?.filter((operation) => canonicalUrn(operation.urn) === own);
  }
}

const timeoutMs = 30_000;

/** Reads the pending operations of a stack with the Pulumi CLI. Throws if the CLI does not show that stack. */
export async function readPending(
  urn: string,
  cli: Cli = pulumiCli({ timeoutMs }),
): Promise<PendingOperation[]> {
  // Without an engine, as in tests, there is no stack to read.
  if (engineAddress() === undefined) return [];
  const { stack, project } = partsOf(urn);
  const isOfStack = ({ resources = [] }: ExportedState) =>
    resources.some(({ urn }) => partsOf(urn).stack === stack && partsOf(urn).project === project);
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
