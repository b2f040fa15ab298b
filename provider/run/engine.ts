import { connect } from "node:net";
import * as pulumi from "@pulumi/pulumi";
import { listenForCancel } from "./cancellation";

/** Where the resource of a message stands in the stack; unknown for state of before it was kept. */
export type Urn = string | undefined;

/** Logs to the output of the running command, beside the resource it is about. */
export const log = {
  /** Shown while the work goes on, replaced by what comes next. */
  progress: (urn: Urn, message: string) => pulumi.log.info(message, named(urn), undefined, true),
  info: (urn: Urn, message: string) => pulumi.log.info(message, named(urn)),
  warn: (urn: Urn, message: string) => pulumi.log.warn(message, named(urn)),
  debug: (urn: Urn, message: string) => pulumi.log.debug(message, named(urn)),
};

/**
 * Connects a dynamic provider's process to its engine: what it says, and the engine's request to stop.
 * The process gets the engine's address but does not pass it to the SDK, so that messages would come out as text
 * of no severity and of no resource.
 */
export function connectToEngine(): void {
  const address = engineAddress();
  if (!address) return;
  listenForCancel();
  pulumi.runtime.resetOptions(pulumi.getProject(), pulumi.getStack(), -1, address, "", false, "");
}

/** Address of the engine that a dynamic provider's process works for; undefined in any other process. */
export function engineAddress(): string | undefined {
  const [, script, ...args] = process.argv;
  // With --logflow, options for the log come before it.
  return script?.includes("dynamic-provider") ? args.find((arg) => /:\d+$/.test(arg)) : undefined;
}

/** Whether an engine is still at work: the processes that it started do not notice when it is killed. */
export function engineAnswers(address: string | undefined): Promise<boolean> {
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

const lookEveryMs = 5_000;

/** Ends a dynamic provider's process some time after its engine, when it is at nothing that must be brought to its end. */
export function endWithEngine(isBusy: () => boolean): void {
  const address = engineAddress();
  if (!address || watching) return;
  watching = true;
  let missed = 0;
  const look = async () => {
    missed = (await engineAnswers(address)) ? 0 : missed + 1;
    if (missed > 1 && !isBusy()) process.exit();
  };
  setInterval(look, lookEveryMs).unref();
}

let watching = false;

/** The log needs a resource only for its URN. */
function named(urn: Urn): pulumi.Resource | undefined {
  return urn ? ({ urn: pulumi.output(urn) } as pulumi.Resource) : undefined;
}
