import { engineAddress } from "./engine";
import type { Properties } from "./row";
import { type ExportedState, exportState, pulumiCli } from "./stack-state";
import { carriedUrn, partsOf } from "./urn";

/** A create or an update that the engine began in an earlier run and has not recorded the end of. */
export interface PendingOperation {
  readonly urn: string;
  /** What the resource was declared with in that run. */
  readonly inputs: Properties;
}

/**
 * What the last run of a stack had begun when its engine was killed, on whatever machine. The engine notes each operation
 * in the state before it calls the provider. It drops the notes with its first write, so they are read once, early.
 */
export class PendingOperations {
  #found: Promise<readonly PendingOperation[]> | undefined;

  constructor(
    /** Reads the pending operations of the stack that a resource belongs to. */
    private readonly read: (urn: string) => Promise<readonly PendingOperation[]> = readPending,
  ) {}

  /** Reads the state, unless this run has read it before. */
  look(urn: string | undefined): Promise<readonly PendingOperation[]> {
    // Without the state nothing is known; the upload journal of this machine remains.
    this.#found ??= this.read(urn ?? "").catch(() => []);
    return this.#found;
  }

  /** What a resource was declared with in each operation that is pending. */
  async of(urn: string | undefined): Promise<Properties[]> {
    const own = carriedUrn(urn ?? "");
    const found = await this.look(urn);
    return found.flatMap((operation) => (carriedUrn(operation.urn) === own ? [operation.inputs] : []));
  }
}

const timeoutMs = 30_000;

async function readPending(urn: string): Promise<PendingOperation[]> {
  // Only a process that an engine started belongs to a stack.
  if (engineAddress() === undefined) return [];
  const { stack, project } = partsOf(urn);
  const cli = pulumiCli({ timeoutMs });
  const isOfStack = ({ resources = [] }: ExportedState) =>
    resources.some((row) => partsOf(row.urn).stack === stack && partsOf(row.urn).project === project);
  for (const way of [["--stack", stack], []]) {
    const state = await exportState(way, cli).catch((): ExportedState => ({}));
    if (!isOfStack(state)) continue;
    return (state.pending_operations ?? []).flatMap(({ type, resource }) =>
      type === "creating" || type === "updating"
        ? [{ urn: resource.urn, inputs: resource.inputs ?? {} }]
        : [],
    );
  }
  return [];
}
