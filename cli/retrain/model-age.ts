import type { Client } from "../../client/client";
import { undefinedIfMissing } from "../../client/error-meaning";
import { isOffered } from "../../client/extensions";
import { routes } from "../../contract";
import { logicalName } from "../../provider/run/urn";
import { resourcesOf, servedModels } from "../release/contents";
import type { OpenStack, StateResource } from "../stack/open";
import { providerSettings } from "../stack/providers";
import { defined } from "../terminal/output";

/** Age of a live model, and the number of events that it has not learned from. */
export interface ModelAge {
  readonly modelId: string;
  /** Logical name of the `Model` in the program. Absent for a pinned model. */
  readonly model?: string;
  /** Names of the deployments that use the model. */
  readonly deployments: readonly string[];
  /** Time of the training, as ISO 8601. Absent if the service does not report it. */
  readonly trainedAt?: string;
  /** Events in its dataset. Absent if the service cannot count them. */
  readonly eventCount?: number;
  /** Events since its training. */
  readonly newEventCount?: number;
}

/** Asks the services of a stack how old its live models are. */
export async function readModelAges(
  open: OpenStack,
  resources: readonly StateResource[],
): Promise<ModelAge[]> {
  const ages = new Map<string, ModelAge>();
  const served = new Map(servedModels(resources).map((one) => [one.name, one]));
  for (const deployment of resourcesOf(resources, "Deployment")) {
    const name = logicalName(deployment.urn);
    const { generator, ranker } = served.get(name) ?? {};
    for (const live of [generator, ranker]) {
      if (!live) continue;
      const known = ages.get(live.modelId);
      if (known) {
        ages.set(live.modelId, { ...known, deployments: [...known.deployments, name] });
        continue;
      }
      const projectId = String(deployment.outputs?.projectId ?? "");
      const age = await open.withClient(
        (client) => readAge(client, { projectId, modelId: live.modelId }),
        providerSettings(deployment, resources, open),
      );
      const { modelId, model } = live;
      ages.set(modelId, { modelId, ...defined({ model }), deployments: [name], ...age });
    }
  }
  return [...ages.values()];
}

/** Returns nothing about a model that the service has lost, because drift reports that. */
async function readAge(client: Client, ref: { readonly projectId: string; readonly modelId: string }) {
  if (!(await isOffered(client, routes.countModelEvents))) {
    const model = await undefinedIfMissing(client.call(routes.getModel, ref));
    return defined({ trainedAt: timeOf(model?.createdTs) });
  }
  const counted = await undefinedIfMissing(client.call(routes.countModelEvents, ref));
  if (!counted) return {};
  const { createdTs, eventCount, newEventCount } = counted;
  return {
    eventCount,
    ...defined({ trainedAt: timeOf(createdTs), newEventCount: newEventCount ?? undefined }),
  };
}

/** The specification does not define the unit of times. In milliseconds, this number is a day in 1973. */
const minMs = 1e11;

function timeOf(ts: number | null | undefined): string | undefined {
  return ts == null ? undefined : new Date(ts < minMs ? ts * 1000 : ts).toISOString();
}
