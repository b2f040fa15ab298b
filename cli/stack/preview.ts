import type { ConfigMap, EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation";
import { engineErrors, withTitle } from "./engine-messages";
import { type OpenStack, type StateResource, unknownStackError } from "./open";

/** A planned operation of the engine on one resource. */
export type Step = StepEventMetadata;

/** Planned steps and warnings of a preview. */
export interface Preview {
  readonly steps: readonly Step[];
  readonly warnings: readonly { readonly urn?: string | undefined; readonly text: string }[];
}

/** Previews an update. `config` resolves long before the preview ends. */
export function previewUpdate(open: OpenStack): { config: Promise<ConfigMap>; preview: Promise<Preview> } {
  let setConfig: (config: ConfigMap | Promise<ConfigMap>) => void = () => {};
  let isConfigKnown = false;
  const config = new Promise<ConfigMap>((resolve) => {
    setConfig = resolve;
  });
  const onPrelude = ({ preludeEvent }: EngineEvent) => {
    if (!preludeEvent) return;
    isConfigKnown = true;
    const entries = Object.entries(preludeEvent.config ?? {});
    // The event masks secrets. If it contains any, read the configuration itself, which starts another engine.
    const hasNoSecrets = entries.every(([, value]) => !value.includes("[secret]"));
    const known = Object.fromEntries(entries.map(([key, value]) => [key, { value }]));
    setConfig(hasNoSecrets ? known : open.allConfig());
  };
  const preview = runPreview(open, (onEvent) =>
    open.stack.preview({
      onEvent: (event) => {
        onPrelude(event);
        onEvent(event);
      },
      color: "never",
    }),
  ).finally(() => {
    // If the preview fails early, its error may quote a secret, which the caller masks.
    if (!isConfigKnown) setConfig(open.allConfig());
  });
  return { config, preview };
}

/** Previews a refresh: the differences between the state and the service. */
export function previewRefresh(open: OpenStack): Promise<Preview> {
  return runPreview(open, (onEvent) => open.stack.previewRefresh({ onEvent, color: "never" }));
}

/**
 * Returns the state entries that the steps of a refresh contain. They include entries that wait for deletion, which
 * have the same URN as their replacement. Dependencies and source positions are missing.
 */
export function stateBeforeSteps({ steps }: Preview): StateResource[] {
  const known = new Map<string, StateResource>();
  for (const { old } of steps) if (old && !known.has(entryKey(old))) known.set(entryKey(old), old);
  return [...known.values()];
}

/** Returns a key that distinguishes a resource from the replaced resource with the same URN. */
function entryKey({ urn, id, delete: isDeleting }: Pick<StateResource, "urn" | "id" | "delete">): string {
  return `${urn} ${id ?? ""} ${isDeleting === true}`;
}

async function runPreview(
  open: OpenStack,
  run: (onEvent: (event: EngineEvent) => void) => Promise<unknown>,
): Promise<Preview> {
  // The event at the end of a step has more details than the event at its start, but is not always sent.
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
    const reasons = errors.size > 0 ? [...errors] : engineErrors(error as Error);
    const message = `Cannot compare stack ${open.name}:\n${reasons.join("\n")}`;
    throw (await unknownStackError(open.location, error)) ?? new Error(message, { cause: error });
  }
  return { steps: [...steps.values()], warnings };
}
