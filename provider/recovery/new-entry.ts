import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { accountOf } from "../run/account";
import { currentBackend } from "../run/backend";
import type { Context } from "../run/context";
import { engineAddress, isEngineRunning } from "../run/engine";
import { masked } from "../run/masking";
import type { AnyCreation } from "./creation";
import { serviceIn } from "./earlier-run";
import { matchesBefore } from "./evidence";
import type { JournalEntry } from "./journal";

/** Returns the journal entry of a create that is about to be sent. Throws if the engine of this run has exited. */
export async function newEntry(
  context: Context,
  creation: AnyCreation,
  identity: string,
): Promise<JournalEntry> {
  const { client, clock, settings, run, urn = "" } = context;
  const { route, key, request } = creation;
  const lineage = await run.initial.lineage({ urn });
  const before = await matchesBefore(context, creation);
  const engine = engineAddress();
  // After its engine was killed, this process must not create anything: the next run may already do so.
  if (engine && !(await isEngineRunning(engine)))
    throw new Error("the Pulumi engine has exited, so nothing new is created; run `pulumi up` again");
  const account = accountOf(settings);
  const address = shownAddress(client.service);
  return {
    urn,
    service: serviceIn(client),
    ...(address && { address }),
    backend: currentBackend(),
    ...(lineage && { lineage }),
    ...(account && { account }),
    path: route.path,
    identity,
    ...(creation.identity !== undefined && { request: { name: request.name } }),
    key: key ?? randomUUID(),
    derived: key !== undefined,
    at: new Date(clock.now()).toISOString(),
    pid: process.pid,
    host: hostname(),
    ...(engine && { engine }),
    ...(before && { before }),
  };
}

/** Returns the address of a service without credentials. Undefined if the address is secret. */
function shownAddress(service: string): string | undefined {
  if (masked(service) !== service) return undefined;
  if (!/^https?:/.test(service)) return service;
  const { origin, pathname } = new URL(service);
  return origin + pathname.replace(/\/+$/, "");
}
