import { connect } from "node:net";
import { masked } from "./masking";

/** URN of a resource. Undefined in state that was written before URNs were stored. */
export type Urn = string | undefined;

/** Severity of a log message. */
export type Severity = "debug" | "info" | "warn";

/** Connection to the engine: as a dynamic provider or as a plugin. */
export interface Binding {
  /** Called before the first lifecycle runs. */
  connect(): void;
  /** Returns the address of the engine that started this process, if any. */
  engineAddress(): string | undefined;
  /** Shows a message next to its resource. The next message replaces an ephemeral one. */
  log(severity: Severity, message: string, urn: Urn, isEphemeral: boolean): Promise<void>;
}

/** Binding of this process. Messages are discarded until one is set. */
let binding: Binding = { connect: () => {}, engineAddress: () => undefined, log: async () => {} };

/** Sets the binding of this process. */
export function setBinding(chosen: Binding): void {
  binding = chosen;
}

/** Connects this process to its engine. */
export function connectToEngine(): void {
  binding.connect();
}

/** Returns the address of the engine that started this process, if any. */
export function engineAddress(): string | undefined {
  return binding.engineAddress();
}

/**
 * Returns the engine's address in the arguments with which the engine starts a provider. With --logflow, --tracing or
 * --otel-traces, options precede it, and the value of one is a URL that ends with a port too.
 */
export function engineAddressIn(args: readonly string[]): string | undefined {
  return args.find((arg) => /^[^/]+:\d+$/.test(arg));
}

const logAt = (severity: Severity, isEphemeral: boolean) => (urn: Urn, message: string) =>
  binding.log(severity, masked(message), urn, isEphemeral);

/** Logs to the output of the Pulumi command, next to the resource. */
export const log = {
  /** Logs an ephemeral message, which the next message replaces. */
  progress: logAt("info", true),
  info: logAt("info", false),
  warn: logAt("warn", false),
  debug: logAt("debug", false),
};

/**
 * Whether the engine at an address is running. Child processes do not notice when their engine is killed, so this tries
 * to connect to it.
 */
export function isEngineRunning(address: string | undefined): Promise<boolean> {
  const [, host, port] = /^(.*):(\d+)$/.exec(address ?? "") ?? [];
  if (!host || !port) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    const end = (isRunning: boolean) => {
      socket.destroy();
      resolve(isRunning);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}

const checkEveryMs = 5_000;

/** Makes this process exit after the engine has exited, as soon as `isBusy` returns false. */
export function exitWithEngine(isBusy: () => boolean): void {
  const address = engineAddress();
  if (!address || watching) return;
  watching = true;
  let missed = 0;
  const check = async () => {
    missed = (await isEngineRunning(address)) ? 0 : missed + 1;
    if (missed > 1 && !isBusy()) process.exit();
  };
  setInterval(check, checkEveryMs).unref();
}

let watching = false;
