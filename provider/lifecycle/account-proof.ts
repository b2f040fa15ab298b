import { undefinedIfMissing } from "../../client/error-meaning";
import { isEnabled, type Settings } from "../../client/settings";
import { routes } from "../../contract";
import { accountOf } from "../run/account";
import type { Properties, StackRow } from "../run/row";
import { openSession, type Session } from "../run/session";
import { type Whereabouts, whereabouts } from "./belonging";

/** The facts about the account that a resource belongs to. */
export interface AccountEvidence {
  /** Whether the resource was written with the configured key; "unknown" in state of older versions. */
  readonly key: "same" | "different" | "unknown";
  /** Whether the user has said that it is the same account, with RECOMMENDER_SERVICE_MOVED. */
  readonly saidSame?: boolean;
  /** Whether the configured key shows anything that the stack created with the other key. */
  readonly seesOurs?: boolean;
}

/** Whether the configured account is the one of a resource: `look` asks the service, `refuse` stops the run. */
export type AccountVerdict = "same" | "look" | "refuse";

/**
 * Decides whether a resource may be looked for in the configured account. With the key of another account everything of
 * the stack seems to be gone at once, and would be created again. A key that was replaced in the same account still shows
 * what the stack created.
 */
export function accountVerdict({ key, saidSame, seesOurs }: AccountEvidence): AccountVerdict {
  if (key !== "different" || saidSame) return "same";
  if (seesOurs === undefined) return "look";
  return seesOurs ? "same" : "refuse";
}

/** How many objects are asked for one by one if the list shows none of them. */
const looksAtMost = 10;

/** Finds out where a row belongs; refuses a row of another service or account, which would seem to be gone. */
export async function locate(
  row: StackRow,
  properties: Properties,
  settings: Settings,
): Promise<Whereabouts> {
  const where = await whereabouts(properties, settings);
  if (where === "here") await refuseOtherAccount(row, settings);
  return where;
}

async function refuseOtherAccount(row: StackRow, settings: Settings): Promise<void> {
  const [then, now] = [row.account, accountOf(settings)];
  const key = then === undefined || now === undefined ? "unknown" : then === now ? "same" : "different";
  const evidence: AccountEvidence = { key, saidSame: isEnabled(process.env.RECOMMENDER_SERVICE_MOVED) };
  let verdict = accountVerdict(evidence);
  if (verdict === "look") {
    const session = await openSession(settings);
    const { accounts } = session.run;
    const proof = accounts.get(then as string) ?? seesOurs(session, row);
    accounts.set(then as string, proof);
    proof.catch(() => accounts.delete(then as string));
    verdict = accountVerdict({ ...evidence, seesOurs: await proof });
  }
  if (verdict === "same") return;
  throw new Error(
    `This resource was created with another API key at ${settings.baseUrl}, and the configured key shows nothing of ` +
      "this stack: it seems to be the key of another account. Configure the former key with recommender:apiKey or " +
      "RECOMMENDER_API_KEY. If the account is the same, run `RECOMMENDER_SERVICE_MOVED=1 pulumi refresh --run-program`.",
  );
}

/** Whether the service shows anything that the stack created with the key of a row. */
async function seesOurs({ client, run }: Session, of: StackRow): Promise<boolean> {
  const stored = await run.stackState.rows(of).catch(() => []);
  const ours = [of, ...stored].filter(({ account }) => account === of.account);
  const ids = new Set(ours.filter(({ type }) => type === "EventDataset").map(({ id }) => id));
  if (ids.size > 0) {
    const { eventDatasets } = await client.call(routes.listEventDatasets, {});
    if (eventDatasets.some(({ eventDatasetId }) => ids.has(eventDatasetId))) return true;
  }
  // The list may have only a page of them.
  for (const eventDatasetId of [...ids].slice(0, looksAtMost))
    if (await undefinedIfMissing(client.call(routes.getEventDataset, { eventDatasetId }))) return true;
  const models = ours.filter(({ type }) => type === "Model").slice(0, looksAtMost);
  for (const { id: modelId, projectId } of models)
    if (projectId && (await undefinedIfMissing(client.call(routes.getModel, { projectId, modelId }))))
      return true;
  return false;
}
