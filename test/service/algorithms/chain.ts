import { type Interactions, InteractionsBuilder } from "../../../service/algorithms";
import { createRandom } from "../../../service/algorithms/random";

/** Number of items of a chain. Item 0 follows the last one. */
export const chainItems = 60;

const day = 86_400_000;

interface ChainOptions {
  readonly users?: number;
  /** Whether the times are those of the choices. Otherwise each user's times are assigned at random. */
  readonly inOrder?: boolean;
}

/** Users who mostly choose the item after the one that they chose last, at intervals of a day. */
export function createChain({ users = 300, inOrder = true }: ChainOptions = {}): Interactions {
  const random = createRandom(11);
  const builder = new InteractionsBuilder();
  for (let user = 0; user < users; user++) {
    const items = new Set<number>();
    for (let item = random.below(chainItems); items.size < 8; ) {
      items.add(item);
      item = random.next() < 0.7 ? (item + 1) % chainItems : random.below(chainItems);
    }
    const places = Array.from({ length: items.size }, (_, place) => ({ place, key: random.next() }));
    if (!inOrder) places.sort((a, b) => a.key - b.key);
    [...items].forEach((item, at) => {
      builder.add(user, item, 1, (places[at]?.place ?? 0) * day + user);
    });
  }
  return builder.build(users, chainItems);
}
