import { fork } from "node:child_process";
import { once } from "node:events";

/** A separate process. */
export interface Child<T> {
  /** The first message of the process. */
  readonly message: T;
  /** Sends a message and returns the response. */
  ask<A>(): Promise<A>;
  kill(): void;
}

/** Starts a file in a separate process, so it has its own heap and event loop, and waits for its first message. */
export async function startChild<T>(file: string, ...args: readonly string[]): Promise<Child<T>> {
  const child = fork(file, args, { execArgv: ["--require", require.resolve("tsx/cjs")] });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${file} exited with code ${code} before it sent a message.`);
  });
  const [message] = await Promise.race([once(child, "message"), ended]);
  ended.catch(() => undefined);
  const ask = async <A>(): Promise<A> => {
    child.send("next");
    return (await Promise.race([once(child, "message"), ended]))[0] as A;
  };
  return { message: message as T, ask, kill: () => child.kill() };
}

/** Runs a file in a separate process and returns its message. */
export async function inChild<T>(file: string, ...args: readonly string[]): Promise<T> {
  return (await startChild<T>(file, ...args)).message;
}
