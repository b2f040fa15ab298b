import { explainHeader } from "../../contract";
import { ServiceError } from "../base/error";
import type { Deployed } from "../serving/deployed";
import { recommend } from "../serving/recommend";
import { similarItems } from "../serving/similar";
import { reasoned } from "../serving/why";
import { withAttributes } from "../serving/with-attributes";
import type { Call, Handler, Handlers } from "./handler";
import { projectOfKey, readableWith, refuseHidden } from "./public-key";

/** The operations that recommend items. */
export const recommendationHandlers: Handlers<"recommendItemsToUser" | "recommendItemsToItem"> = {
  recommendItemsToUser: (input, call) => {
    refuseHidden(call, input.attributes);
    if (input.userId === undefined && !input.events) throw userMissing();
    return answered(call, (deployed) => itemsForUser(input, call, deployed));
  },
  recommendItemsToItem: (input, call) => {
    refuseHidden(call, input.attributes);
    return answered(call, (deployed) => itemsForItems(input, call, deployed));
  },
};

/** Answers a call with the deployment that it addresses. */
async function answered<T>(call: Call, answer: (deployed: Deployed) => Promise<T>): Promise<T> {
  const deployed = await deploymentFor(call);
  try {
    return await limited(deployed, answer);
  } catch (error) {
    const isGone = error instanceof ServiceError && error.code === "NOT_DEPLOYED";
    if (!isGone || call.addressedProject !== undefined || !call.store.isShared) throw error;
    // Another process may have shut this project down and deployed another one, perhaps behind the same stable address.
    await call.serving.sync();
    return limited(await deploymentFor(call), answer);
  }
}

/** Answers a call unless the deployment has answered as many calls as its limit allows. */
async function limited<T>(deployed: Deployed, answer: (deployed: Deployed) => Promise<T>): Promise<T> {
  const waitSec = deployed.rateLimit.take();
  if (waitSec <= 0) return answer(deployed);
  throw new ServiceError(
    "RATE_LIMITED",
    `The deployment is limited to ${deployed.rateLimit.qps} qps. Wait, or deploy again with a larger qps.`,
    { headers: { "retry-after": String(Math.ceil(waitSec)) } },
  );
}

function userMissing(): ServiceError {
  const message = "missing; expected text, or the events of the visit in `events`";
  return new ServiceError("BAD_REQUEST", "The request is invalid. See `details`.", {
    details: [{ path: "user_id", message }],
  });
}

/** Finds the deployment that answers a call, and counts the call for its project. */
async function deploymentFor(call: Call): Promise<Deployed> {
  const projectId = await projectFor(call);
  call.countFor(projectId);
  return call.serving.find(projectId);
}

async function projectFor(call: Call): Promise<string> {
  const { serving, addressedStack, addressedProject, publicKey } = call;
  if (publicKey) return projectOfKey(call, publicKey);
  if (addressedStack !== undefined) return serving.projectOf(addressedStack);
  return addressedProject ?? serving.onlyProject();
}

type Input<K extends "recommendItemsToUser" | "recommendItemsToItem"> = Parameters<Handler<K>>[0];
type Answer<K extends "recommendItemsToUser" | "recommendItemsToItem"> = Awaited<ReturnType<Handler<K>>>;

/**
 * Returns the fields of a question that both operations have. `attributes` is left out: here it names item attributes,
 * not those of a user.
 */
function askedOf(
  {
    limit,
    filterQuery,
    excludeItemIds,
    includeItemIds,
    events,
  }: Input<"recommendItemsToUser" | "recommendItemsToItem">,
  { addressedStack, addressedProject, publicKey }: Call,
) {
  const isAddressed =
    addressedStack !== undefined || addressedProject !== undefined || publicKey !== undefined;
  const readable = readableWith(publicKey);
  return { limit, filterQuery, excludeItemIds, includeItemIds, readable, visit: events, isAddressed };
}

async function itemsForUser(
  input: Input<"recommendItemsToUser">,
  call: Call,
  deployed: Deployed,
): Promise<Answer<"recommendItemsToUser">> {
  const { userId, attributes, limit, filterQuery = null } = input;
  const most = call.headers[explainHeader];
  const asked = { ...askedOf(input, call), userId };
  const explained = most === undefined ? undefined : await reasoned(deployed, asked, Number(most));
  const items = await withAttributes(
    deployed,
    explained?.itemIds ?? (await recommend(deployed, asked)),
    attributes,
  );
  return {
    userId: userId ?? null,
    limit,
    attributes,
    filterQuery,
    ...(explained && { basis: explained.basis }),
    results: items.map((item, at) => ({ item, ...(explained && { why: explained.why[at] }) })),
    // Without the header, the reply has only the fields of the specification.
  } as Answer<"recommendItemsToUser">;
}

async function itemsForItems(
  input: Input<"recommendItemsToItem">,
  call: Call,
  deployed: Deployed,
): Promise<Answer<"recommendItemsToItem">> {
  const { itemIds, attributes, limit, filterQuery = null } = input;
  const found = await similarItems(deployed, { ...askedOf(input, call), itemIds });
  const items = await withAttributes(deployed, found, attributes);
  return { itemIds, limit, attributes, filterQuery, results: items.map((item) => ({ item })) };
}
