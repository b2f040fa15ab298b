import {
  InteractionsBuilder,
  Recommender,
  servable,
  type TrainedModel,
  trainG1,
} from "../../service/algorithms";
import { itemCounts, rowOf } from "../../service/algorithms/interactions";
import { OrderBasis } from "../../service/algorithms/order/basis";
import { createRandom } from "../../service/algorithms/random";
import type { Split } from "./split";

/** Recency so large that all of a user's last items count the same. */
const never = 1e9;

/** Trains with `{}` in this process, then leaves out one part after another. Returns the lists of all users. */
export function variants({ train, wanted }: Split, cut: number) {
  const [users, items] = [placesOf(train.map(({ user }) => user)), placesOf(train.map(({ item }) => item))];
  const builder = new InteractionsBuilder();
  for (const { user, item, time = 0 } of train)
    builder.add(users.get(user) as number, items.get(item) as number, 1, time * 1000);
  const interactions = builder.build(users.size, items.size);
  const began = performance.now();
  const model = trainG1({ interactions });
  const seconds = (performance.now() - began) / 1000;
  const names = [...items.keys()];
  const listsOf = (of: TrainedModel) => {
    const recommender = new Recommender(servable(of));
    return new Map(
      [...wanted.keys()].map((id) => {
        const user = users.get(id) ?? -1;
        const top = recommender.top(recommender.preferencesOf(user), cut, rowOf(interactions, user));
        return [id, top.map((item) => names[item] as string)];
      }),
    );
  };
  const lists = {
    all: listsOf(model),
    withoutOrder: listsOf({ ...model, order: undefined }),
    withoutRecency: listsOf(withoutRecency(model)),
    withoutNeighbours: listsOf({ ...model, neighbours: null }),
  };
  return { lists, order: model.parameters.order ?? 0, seconds };
}

/** Returns the model with the same weight of the order, but with equal weights for all of a user's last items. */
function withoutRecency(model: ReturnType<typeof trainG1>): TrainedModel {
  const { order, interactions, parameters } = model;
  if (!order || !interactions.time) return model;
  const basis = new OrderBasis({ ...interactions, time: interactions.time }, itemCounts(interactions));
  const { gapExponent, popularityExponent } = order.rule;
  const setting = { share: parameters.order ?? 0, recency: never, gapExponent, popularityExponent };
  return { ...model, order: { ...order, rule: basis.rule(setting) } };
}

function placesOf(ids: readonly string[]): Map<string, number> {
  return new Map([...new Set(ids)].map((id, place) => [id, place]));
}

const chain = { users: 3000, items: 1000, length: 10, follows: 0.5 };

/** Returns artificial users. Every second choice of a user is the item after the user's previous one. */
export function chains(): string[][] {
  const random = createRandom(17);
  return Array.from({ length: chain.users }, (_, user) => {
    const items = new Set<number>();
    for (let item = random.below(chain.items); items.size < chain.length; ) {
      items.add(item);
      const next = (item + 1) % chain.items;
      item = random.next() < chain.follows ? next : Math.floor(chain.items * random.next() ** 2);
    }
    return [`u${user}`, ...Array.from(items, (item) => `i${item}`)];
  });
}
