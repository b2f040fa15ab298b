import { explainHeader } from "../../contract";
import { attributeOf } from "../algorithms";
import { ServiceError } from "../base/error";
import type { Deployed } from "../serving/deployed";
import { recommend } from "../serving/recommend";
import { reasoned } from "../serving/why";
import type { Call, Handler, Handlers } from "./handler";

/** The operation that recommends items. */
export const recommendationHandlers: Handlers<"recommendItemsToUser"> = {
  recommendItemsToUser: async (input, call) => {
    const deployed = await deploymentFor(call);
    try {
      return await answer(input, call, deployed);
    } catch (error) {
      const isGone = error instanceof ServiceError && error.code === "NOT_DEPLOYED";
      if (!isGone || call.addressedProject !== undefined || !call.store.isShared) throw error;
      // Another process may have shut this project down and deployed another one, perhaps behind the same stable address.
      await call.serving.sync();
      return answer(input, call, await deploymentFor(call));
    }
  },
};

/** Finds the deployment that answers a call, and counts the call for its project. */
async function deploymentFor(call: Call): Promise<Deployed> {
  const { serving, addressedStack, addressedProject } = call;
  const projectId = addressedStack
    ? await serving.projectOf(addressedStack)
    : (addressedProject ?? (await serving.onlyProject()));
  call.countFor(projectId);
  return serving.find(projectId);
}

type Input = Parameters<Handler<"recommendItemsToUser">>[0];
type Answer = Awaited<ReturnType<Handler<"recommendItemsToUser">>>;

async function answer({ userId, attributes, limit }: Input, call: Call, deployed: Deployed): Promise<Answer> {
  const waitSec = deployed.rateLimit.take();
  if (waitSec > 0) {
    throw new ServiceError(
      "RATE_LIMITED",
      `The deployment is limited to ${deployed.rateLimit.qps} qps. Wait, or deploy again with a larger qps.`,
      { headers: { "retry-after": String(Math.ceil(waitSec)) } },
    );
  }
  const isAddressed = call.addressedStack !== undefined || call.addressedProject !== undefined;
  const most = call.headers[explainHeader];
  const explained =
    most === undefined ? undefined : await reasoned(deployed, { userId, limit, isAddressed }, Number(most));
  const itemIds = explained?.itemIds ?? (await recommend(deployed, userId, limit, isAddressed));
  const records = attributes.length > 0 ? await deployed.attributesOf(itemIds) : undefined;
  return {
    userId,
    limit,
    attributes,
    // The specification shows the field, but no way to set it.
    filterQuery: null,
    ...(explained && { basis: explained.basis }),
    results: itemIds.map((itemId, at) => {
      const record = records?.get(itemId);
      // A missing attribute is null, so all items have the same keys.
      const values = attributes.map((name) => [name, attributeOf(record, name) ?? null]);
      return {
        item: { itemId, attributes: Object.fromEntries(values) },
        ...(explained && { why: explained.why[at] }),
      };
    }),
    // Without the header, the reply has only the fields of the specification.
  } as Answer;
}
