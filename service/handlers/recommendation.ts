import { attributeOf } from "../algorithms";
import { ServiceError } from "../base/error";
import type { Handlers } from "./handler";

/** The call that all the others are for. */
export const recommendationHandlers: Handlers<"recommendItemsToUser"> = {
  recommendItemsToUser: async (input, call) => {
    try {
      return await answer(input, call);
    } catch (error) {
      const isGone = error instanceof ServiceError && error.code === "NOT_DEPLOYED";
      if (!isGone || call.addressedProject !== undefined || !call.store.shared) throw error;
      // Another process may have deployed another project as it shut this one down.
      await call.serving.sync();
      return answer(input, call);
    }
  },
};

const answer: Handlers<"recommendItemsToUser">["recommendItemsToUser"] = async (
  { userId, attributes, limit },
  call,
) => {
  const deployed = await call.serving.find(call.addressedProject);
  const waitSec = deployed.rateLimit.take();
  if (waitSec > 0) {
    throw new ServiceError(
      "RATE_LIMITED",
      `The deployment allows ${deployed.rateLimit.qps} calls per second; wait, or deploy again with a larger qps.`,
      { headers: { "retry-after": String(Math.ceil(waitSec)) } },
    );
  }
  const itemIds = await deployed.recommend(userId, limit, call.addressedProject !== undefined);
  const records = attributes.length > 0 ? await deployed.attributesOf(itemIds) : undefined;
  return {
    userId,
    limit,
    attributes,
    // The specification shows no request field that sets it.
    filterQuery: null,
    results: itemIds.map((itemId) => {
      const record = records?.get(itemId);
      // An attribute that the item does not have is answered with null, so that every item has the same keys.
      return {
        item: {
          itemId,
          attributes: Object.fromEntries(attributes.map((name) => [name, attributeOf(record, name) ?? null])),
        },
      };
    }),
  };
};
