import type { Client } from "../../client/client";
import { isOffered } from "../../client/extensions";
import { type OrphanType, routes } from "../../contract";
import { formatOrigin } from "../../contract/origin";
import { nounOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import { explicitProviderOf } from "../stack/providers";
import type { Orphan, Unmanaged } from "./finding";

/** What the service of a stack holds, as far as the API lists it. */
export interface Inventory {
  /** Two stacks of one service have the same. */
  readonly service: string;
  readonly found: readonly (Omit<Unmanaged, "fixes"> & { readonly numShards?: number })[];
  /** What the service lists as left behind. */
  readonly orphans: readonly Omit<Orphan, "fixes">[];
  /** Ids that any row of the stack holds, including rows that wait for their deletion. */
  readonly managed: ReadonlySet<string>;
}

/** Lists what is in the account and in the projects of a stack. */
export async function takeInventory(
  state: readonly StateResource[],
  connect: () => Promise<Client>,
): Promise<Inventory | undefined> {
  const rows = state.filter((resource) => nounOf(resource.type) !== undefined);
  const own = rows.filter((row) => explicitProviderOf(row) === undefined);
  if (own.length === 0) return undefined;
  const ofType = (...types: string[]) => own.filter(({ type }) => types.includes(nounOf(type) as string));
  // A provider in the program may have the same service as the stack, so its rows count too.
  const managed = new Set(rows.map(({ id }) => id as string));
  const projects = new Set([
    ...ofType("Project").map(({ id }) => id),
    ...ofType("Model", "Deployment").map(({ outputs }) => outputs?.projectId as string | undefined),
  ]);
  const client = await connect();
  try {
    const { eventDatasets } = await client.call(routes.listEventDatasets, {});
    const datasets = eventDatasets.map(({ eventDatasetId, name, numShards }) => ({
      kind: "unmanaged" as const,
      type: "EventDataset" as const,
      id: eventDatasetId,
      name: name ?? "",
      ...(numShards != null && { numShards }),
    }));
    const lists = [...projects]
      .filter((id) => id !== undefined)
      .map(async (projectId) => {
        const { models } = await client.call(routes.listModels, { projectId });
        return models.map(({ modelId, name }) => ({
          kind: "unmanaged" as const,
          type: "Model" as const,
          id: modelId,
          name: name ?? "",
          projectId,
        }));
      });
    const models = (await Promise.all(lists)).flat();
    const orphans = (await isOffered(client, routes.listOrphans)) ? await listOrphans(client) : [];
    return { service: client.service, found: [...datasets, ...models], orphans, managed };
  } finally {
    await client.close();
  }
}

/** What each inventory holds that none of them manages; what several list is reported by the first of them alone. */
export function unmanagedOf(inventories: readonly (Inventory | undefined)[]): Inventory["found"][] {
  const managed = new Set(
    inventories.flatMap((one) => [...(one?.managed ?? [])].map((id) => `${one?.service} ${id}`)),
  );
  return inventories.map((one) =>
    (one?.found ?? []).filter(({ id }) => {
      const key = `${one?.service} ${id}`;
      if (managed.has(key)) return false;
      managed.add(key);
      return true;
    }),
  );
}

const orphanTypes = {
  USER_DATASET: "UserDataset",
  ITEM_DATASET: "ItemDataset",
  PROJECT: "Project",
  ALGORITHM: "Algorithm",
} as const satisfies Record<OrphanType, Orphan["type"]>;

async function listOrphans(client: Client): Promise<Inventory["orphans"]> {
  const { orphans } = await client.call(routes.listOrphans, {});
  return orphans.map(({ objectType, objectId, name, orphanedBy, blockedBy }) => ({
    ...{ type: orphanTypes[objectType], id: objectId, name },
    ...(orphanedBy !== null && { leftBy: orphanedBy }),
    ...(blockedBy !== null && { blockedBy }),
  }));
}

/** A stack with its inventory. */
interface StackInventory {
  readonly project: string;
  readonly stack: string;
  readonly inventory: Inventory | undefined;
}

/**
 * The orphans that each stack reports: those it left behind itself, and the first stack of a service also those that no
 * given stack left. What a given stack holds again is no orphan.
 */
export function orphansOf(stacks: readonly StackInventory[]): Inventory["orphans"][] {
  const prefixOf = ({ project, stack }: StackInventory) => formatOrigin({ project, stack, resource: "" });
  return stacks.map((own, at) => {
    const { service, orphans = [] } = own.inventory ?? {};
    const beside = stacks.filter(({ inventory }) => inventory?.service === service);
    const isFirst = stacks.findIndex(({ inventory }) => inventory?.service === service) === at;
    return orphans.filter(({ id, leftBy = "" }) => {
      if (beside.some(({ inventory }) => inventory?.managed.has(id))) return false;
      const leaver = beside.find((one) => leftBy.startsWith(prefixOf(one)));
      return leaver ? leaver === own : isFirst;
    });
  });
}
