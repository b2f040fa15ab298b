import type { ConfigMap, EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation";
import { engineErrors, withTitle } from "./engine-messages";
import { type OpenStack, type StateResource, unknownStackError } from "./open";

/** A step that the engine would take for one resource. */
export type Step = StepEventMetadata;

/** One run of the engine that changed nothing. */
export interface Preview {
  readonly steps: readonly Step[];
  readonly warnings: readonly { readonly urn?: string | undefined; readonly text: string }[];
}

/** What the program would change; the configuration is known long before that. */
export function previewUpdate(
  open: OpenStack,
  onConfig: (config: Promise<ConfigMap>) => void,
): Promise<Preview> {
  const onPrelude = ({ preludeEvent }: EngineEvent) => {
    if (!preludeEvent) return;
    // Every other command costs a start of the engine; it is needed only where there are secrets.
    const entries = Object.entries(preludeEvent.config ?? {});
    const plain = entries.every(([, value]) => !value.includes("[secret]"));
    const known = Object.fromEntries(entries.map(([key, value]) => [key, { value }]));
    onConfig(plain ? Promise.resolve(known) : open.allConfig());
  };
  return dryRun(open, (onEvent) =>
    open.stack.preview({
      onEvent: (event) => {
        onPrelude(event);
        onEvent(event);
      },
      color: "never",
    }),
  );
}

/** What the service has changed. */
export function previewRefresh(open: OpenStack): Promise<Preview> {
  return dryRun(open, (onEvent) => open.stack.previewRefresh({ onEvent, color: "never" }));
}

/**
 * The state as a refresh found it: every row, including rows that wait for their deletion under the URN of their
 * replacement. Dependencies and source positions are missing.
 */
export function stateBeforeSteps({ steps }: Preview): StateResource[] {
  const known = new Map<string, StateResource>();
  for (const { old } of steps) if (old && !known.has(entryKey(old))) known.set(entryKey(old), old);
  return [...known.values()];
}

/** Tells the rows of one URN apart: a resource and the one that it replaces. */
function entryKey({ urn, id, delete: isLeaving }: Pick<StateResource, "urn" | "id" | "delete">): string {
  return `${urn} ${id ?? ""} ${isLeaving === true}`;
}

async function dryRun(
  open: OpenStack,
  run: (onEvent: (event: EngineEvent) => void) => Promise<unknown>,
): Promise<Preview> {
  // What comes when a step has ended says more than what comes before it, but does not always come.
  const steps = new Map<string, Step>();
  const warnings: { urn?: string | undefined; text: string }[] = [];
  const errors = new Set<string>();
  const onEvent = ({ resourcePreEvent, resOutputsEvent, diagnosticEvent }: EngineEvent) => {
    const step = (resOutputsEvent ?? resourcePreEvent)?.metadata;
    if (step) steps.set(`${step.op} ${step.old ? entryKey(step.old) : step.urn}`, step);
    if (!diagnosticEvent) return;
    const { urn, severity, message } = diagnosticEvent;
    const text = withTitle(urn, message.replace(/^error: /, "").trim());
    if (severity === "error") errors.add(text);
    if (severity === "warning") warnings.push({ urn, text });
  };
  try {
    await run(onEvent);
  } catch (error) {
    const words = errors.size > 0 ? [...errors] : engineErrors(error as Error);
    const refusal = `Stack ${open.name} could not be compared:\n${words.join("\n")}`;
    throw (await unknownStackError(open.location, error)) ?? new Error(refusal, { cause: error });
  }
  return { steps: [...steps.values()], warnings };
}
