import { connect } from "node:net";
import { masked } from "./masking";

/** Where the resource of a message stands in the stack; unknown for state of before it was kept. */
export type Urn = string | undefined;

/** How much a message matters. */
export type Severity = "debug" | "info" | "warn";

/** Connection to the engine: as a dynamic provider or as a plugin. */
export interface Binding {
  /** Called before the first lifecycle runs. */
  connect(): void;
  /** Address of the engine that this process works for; undefined in any other process. */
  engineAddress(): string | undefined;
  /** Shows a message beside the resource it is about; one that is ephemeral is replaced by what comes next. */
  log(severity: Severity, message: string, urn: Urn, isEphemeral: boolean): Promise<void>;
}

/** Discards messages until a binding is set. */
let binding: Binding = { connect: () => {}, engineAddress: () => undefined, log: async () => {} };

/** Sets the binding of this process. */
export function setBinding(chosen: Binding): void {
  binding = chosen;
}

/** Connects this process to its engine. */
export function connectToEngine(): void {
  binding.connect();
}

/** Address of the engine that this process works for; undefined in any other process. */
export function engineAddress(): string | undefined {
  return binding.engineAddress();
}

const logAt = (severity: Severity, isEphemeral: boolean) => (urn: Urn, message: string) =>
  binding.log(severity, masked(message), urn, isEphemeral);

/** Logs to the output of the running command, beside the resource it is about. */
export const log = {
  /** Shown while the work goes on, replaced by what comes next. */
  progress: logAt("info", true),
  info: logAt("info", false),
  warn: logAt("warn", false),
  debug: logAt("debug", false),
};

/** Whether an engine is still at work: the processes that it started do not notice when it is killed. */
export function isEngineRunning(address: string | undefined): Promise<boolean> {
  const [, host, port] = /^(.*):(\d+)$/.exec(address ?? "") ?? [];
  if (!host || !port) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    const end = (answers: boolean) => {
      socket.destroy();
      resolve(answers);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}

const checkEveryMs = 5_000;

/** Ends a provider's process some time after its engine, when it is at nothing that must be brought to its end. */
export function exitWithEngine(isBusy: () => boolean): void {
  const address = engineAddress();
  if (!address || watching) return;
  watching = true;
  let missed = 0;
  const look = async () => {
    missed = (await isEngineRunning(address)) ? 0 : missed + 1;
    if (missed > 1 && !isBusy()) process.exit();
  };
  setInterval(look, checkEveryMs).unref();
}

let watching = false;
