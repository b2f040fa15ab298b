import type { Client } from "../../client/client";
import { isOffered } from "../../client/extensions";
import { type OrphanType, routes } from "../../contract";
import { formatOrigin } from "../../contract/origin";
import { resourceTypeOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import { explicitProviderOf } from "../stack/providers";
import type { Orphan, Unmanaged } from "./finding";

/** Objects that a stack's service lists, and the ids that the stack manages. */
export interface Inventory {
  /** Identifies the service. Stacks with the same service have the same value. */
  readonly service: string;
  readonly found: readonly (Omit<Unmanaged, "fixes"> & { readonly numShards?: number })[];
  /** Objects that the service lists as orphaned. */
  readonly orphans: readonly Omit<Orphan, "fixes">[];
  /** Ids of all state entries of the stack, including entries that wait for deletion. */
  readonly managed: ReadonlySet<string>;
}

/**
 * Lists the account's event datasets, the models in the stack's projects, and the orphans. Returns undefined if no
 * resource uses the service in the stack's configuration.
 */
export async function takeInventory(
  state: readonly StateResource[],
  connect: () => Promise<Client>,
): Promise<Inventory | undefined> {
  const entries = state.filter((resource) => resourceTypeOf(resource.type) !== undefined);
  const own = entries.filter((entry) => explicitProviderOf(entry) === undefined);
  if (own.length === 0) return undefined;
  const ofType = (...types: string[]) =>
    own.filter(({ type }) => types.includes(resourceTypeOf(type) as string));
  // Resources with an explicit provider may belong to the same service, so their ids count as managed too.
  const managed = new Set(entries.map(({ id }) => id as string));
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

/**
 * Returns, for each inventory, the objects that no stack manages. Each object is reported once, by the first stack
 * whose service lists it.
 */
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
    type: orphanTypes[objectType],
    id: objectId,
    name,
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
 * Returns the orphans that each stack reports: those that it left behind. The first stack of a service also reports
 * orphans that no given stack left behind. An object that a given stack manages again is not an orphan.
 */
export function orphansOf(stacks: readonly StackInventory[]): Inventory["orphans"][] {
  const prefixOf = ({ project, stack }: StackInventory) => formatOrigin({ project, stack, resource: "" });
  return stacks.map((own, at) => {
    const { service, orphans = [] } = own.inventory ?? {};
    const sameService = stacks.filter(({ inventory }) => inventory?.service === service);
    const isFirst = stacks.findIndex(({ inventory }) => inventory?.service === service) === at;
    return orphans.filter(({ id, leftBy = "" }) => {
      if (sameService.some(({ inventory }) => inventory?.managed.has(id))) return false;
      const owner = sameService.find((one) => leftBy.startsWith(prefixOf(one)));
      return owner ? owner === own : isFirst;
    });
  });
}
