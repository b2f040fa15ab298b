import { fork } from "node:child_process";
import { once } from "node:events";

/** A process of its own. */
export interface Child<T> {
  /** The first that it sent. */
  readonly message: T;
  /** Sends it a message and gives the next that it sends. */
  ask<A>(): Promise<A>;
  kill(): void;
}

/** Runs a file in a process of its own, with a heap and an event loop of its own, until it sends a message. */
export async function startChild<T>(file: string, ...args: readonly string[]): Promise<Child<T>> {
  const child = fork(file, args, { execArgv: ["--require", require.resolve("tsx/cjs")] });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${file} ended with code ${code} and without a message`);
  });
  const [message] = await Promise.race([once(child, "message"), ended]);
  ended.catch(() => undefined);
  const ask = async <A>(): Promise<A> => {
    child.send("next");
    return (await Promise.race([once(child, "message"), ended]))[0] as A;
  };
  return { message: message as T, ask, kill: () => child.kill() };
}

/** Runs a file in a process of its own and gives the one message it sends. */
export async function inChild<T>(file: string, ...args: readonly string[]): Promise<T> {
  return (await startChild<T>(file, ...args)).message;
}
