import { setTimeout as sleep } from "node:timers/promises";
import { flushTracing } from "../../telemetry/tracing";
import { hasCreated, isCreating } from "../recovery/in-flight";
import { engineAddressIn } from "../run/engine";
import { enableProviderTracing } from "../run/tracing";
import { setEngineAddress } from "./binding";
import { isBusy, listen } from "./server";

/**
 * Time to wait for pending replies after a signal from the engine, or after the last create. The engine kills the
 * process after 5 s.
 */
const shutdownMs = 1_000;

/**
 * Starts `pulumi-resource-recommender`. The engine passes its own address, reads the port from the first line of the
 * output, and calls the plugin with Pulumi's protocol. Only the SDK's protocol modules are loaded, because loading the
 * whole SDK takes half a second.
 */
async function main(): Promise<void> {
  setEngineAddress(engineAddressIn(process.argv.slice(2)));
  enableProviderTracing();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void end());
  const { port } = await listen();
  process.stdout.write(`${port}\n`);
}

/** Exits when the engine ends the plugin after a run. Waits for creates first, so the engine gets their ids. */
async function end(): Promise<void> {
  while (isCreating()) await sleep(20);
  const until = performance.now() + shutdownMs;
  while (isCreating() || (isBusy() && performance.now() < until)) await sleep(20);
  // The last reply may still be in transit.
  await sleep(20);
  // If this fails, the next run erases the journal entries, because it sees the ids in the state.
  if (hasCreated()) await (await import("./stored.js")).eraseStoredEntries().catch(() => {});
  await flushTracing();
  process.exit(0);
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
