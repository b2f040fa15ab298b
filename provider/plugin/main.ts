import { setTimeout as sleep } from "node:timers/promises";
import { hasCreated, isCreating } from "../recovery/in-flight";
import { setEngineAddress } from "./binding";
import { isAnswering, listen } from "./server";

/** How long answers may take once the engine has asked to end; it kills the process after 5 s. */
const patienceMs = 1_000;

/**
 * `pulumi-resource-recommender`: the engine starts it with its own address, reads the port from the first line of its
 * output, and speaks Pulumi's protocol with it. It loads the SDK's protocol alone: all of the SDK takes half a second.
 */
async function main(): Promise<void> {
  // With --logflow, options for the log come before it.
  setEngineAddress(process.argv.slice(2).find((arg) => /:\d+$/.test(arg)));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void end());
  const { port } = await listen();
  process.stdout.write(`${port}\n`);
}

/** The engine asks every plugin to end when a run is over. What creates is finished first, and the engine gets its id. */
async function end(): Promise<void> {
  const until = performance.now() + patienceMs;
  while (isCreating() || (isAnswering() && performance.now() < until)) await sleep(20);
  // The last answer is on its way.
  await sleep(20);
  // What cannot be erased now, the next run erases when it sees the id in the state.
  if (hasCreated()) await (await import("./stored.js")).eraseWhatIsStored().catch(() => {});
  process.exit(0);
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
