import { resolve } from "node:path";
import {
  type ConfigMap,
  type EngineEvent,
  LocalWorkspace,
  Stack,
  type StepEventMetadata,
} from "@pulumi/pulumi/automation";
import { isUnknownStack, programFolder, unknownStack } from "./stack";

/** A stack of a project folder. */
export interface StackOf {
  /** Folder of the project. */
  readonly cwd: string;
  readonly stack: string;
  /** Variables for the engine, over those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A resource as the state keeps it, as far as a report needs it. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly custom?: boolean;
  readonly external?: boolean;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly dependencies?: readonly string[];
  readonly stackTrace?: readonly { readonly sourcePosition?: string }[];
}

/** A step that the engine would take for one resource. */
export type Step = StepEventMetadata;

/** One run of the engine that changed nothing. */
export interface DryRun {
  readonly steps: readonly Step[];
  readonly warnings: readonly { readonly urn?: string | undefined; readonly text: string }[];
}

/** What can be asked about a stack; nothing of it writes to the state or the service. */
export interface OpenStack {
  /** Name of the project. */
  readonly project: string;
  /** Folder in which the program runs. */
  readonly programFolder: string;
  /** What the program would change; the configuration is known long before that. */
  preview(onConfig: (config: Promise<ConfigMap>) => void): Promise<DryRun>;
  /** What the service has changed. */
  refresh(): Promise<DryRun>;
  /** The state with all that the steps of a refresh leave out. */
  state(): Promise<readonly StateResource[]>;
  config(): Promise<ConfigMap>;
}

/** Opens a stack through the engine that is on PATH. */
export async function openStack({ cwd, stack: name, env }: StackOf): Promise<OpenStack> {
  const workDir = resolve(cwd);
  const workspace = await LocalWorkspace.create({ workDir, ...(env && { envVars: { ...env } }) });
  // Selecting would change the stack that the user's own commands work on.
  workspace.selectStack = async () => {};
  const stack = await Stack.select(name, workspace);
  const { name: project, main } = await workspace.projectSettings();
  return {
    project,
    programFolder: programFolder(workDir, main),
    preview(onConfig) {
      const onPrelude = ({ preludeEvent }: EngineEvent) => {
        if (!preludeEvent) return;
        // Every other command costs a start of the engine; it is needed only where there are secrets.
        const entries = Object.entries(preludeEvent.config ?? {});
        const plain = entries.every(([, value]) => !value.includes("[secret]"));
        const known = Object.fromEntries(entries.map(([key, value]) => [key, { value }]));
        onConfig(plain ? Promise.resolve(known) : stack.getAllConfig());
      };
      return dryRun({ cwd, stack: name }, (onEvent) =>
        stack.preview({
          onEvent: (event) => {
            onPrelude(event);
            onEvent(event);
          },
          color: "never",
        }),
      );
    },
    refresh: () =>
      dryRun({ cwd, stack: name }, (onEvent) => stack.previewRefresh({ onEvent, color: "never" })),
    async state() {
      const { deployment } = await stack.exportStack();
      return (deployment as { resources?: StateResource[] } | undefined)?.resources ?? [];
    },
    config: () => stack.getAllConfig(),
  };
}

/** The state as a refresh found it: all resources, without what they depend on and where they were declared. */
export function stateIn({ steps }: DryRun): StateResource[] {
  const known = new Map<string, StateResource>();
  for (const { old } of steps) if (old && !known.has(old.urn)) known.set(old.urn, old);
  return [...known.values()];
}

/** The stack that is selected in a folder. */
export async function selectedStack(cwd: string): Promise<string> {
  const workspace = await LocalWorkspace.create({ workDir: resolve(cwd) });
  const current = (await workspace.listStacks()).find((stack) => stack.current);
  if (!current) throw new Error("No stack is selected; name one with --stack, or see `pulumi stack ls`.");
  return current.name;
}

async function dryRun(
  { cwd, stack }: StackOf,
  run: (onEvent: (event: EngineEvent) => void) => Promise<unknown>,
): Promise<DryRun> {
  // What comes when a step has ended says more than what comes before it, but does not always come.
  const steps = new Map<string, Step>();
  const warnings: { urn?: string | undefined; text: string }[] = [];
  const errors = new Set<string>();
  const onEvent = ({ resourcePreEvent, resOutputsEvent, diagnosticEvent }: EngineEvent) => {
    const step = (resOutputsEvent ?? resourcePreEvent)?.metadata;
    if (step) steps.set(`${step.op} ${step.urn}`, step);
    if (diagnosticEvent?.severity === "error") errors.add(titled(diagnosticEvent));
    if (diagnosticEvent?.severity === "warning") {
      warnings.push({ urn: diagnosticEvent.urn, text: titled(diagnosticEvent) });
    }
  };
  try {
    await run(onEvent);
  } catch (error) {
    if (isUnknownStack(error)) throw await unknownStack(stack, cwd);
    const words = [...errors].join("\n") || lastWords(error as Error);
    throw new Error(`Stack ${stack} could not be compared:\n${words}`, { cause: error });
  }
  return { steps: [...steps.values()], warnings };
}

function titled({ urn, message }: { urn?: string; message: string }): string {
  const text = message.replace(/^error: /, "").trim();
  const [type, name] = urn?.split("::").slice(2) ?? [];
  if (!name || type === "pulumi:pulumi:Stack") return text;
  const title = `${type?.split(":").at(-1)} ${name}: `;
  return text.startsWith(title) ? text : `${title}${text}`;
}

/** What the engine wrote as its error, without the rest of its output. */
function lastWords({ message }: Error): string {
  // The engine's interface quotes the whole output twice.
  const errors = [...new Set(message.split("\n").filter((line) => line.startsWith("error: ")))];
  return errors.length > 0 ? errors.map((line) => line.slice("error: ".length)).join("\n") : message;
}
