import { connect } from "../service/api";
import { asked, asking, latencies, warmUp } from "../service/load";
import { shelves } from "./shop";

/** Latencies with and without a filter, and the rate of similar-item answers. */
export interface FilterAnswers {
  readonly plainP99Ms: number;
  readonly filteredP99Ms: number;
  readonly plainP50Ms: number;
  readonly filteredP50Ms: number;
  /** The delay of the load generator itself, which the latencies include. */
  readonly askedLateP99Ms: number;
  readonly similarPerSecond: number;
}

/** Calls per second. A service with a million items can also answer this many. */
const rate = 250;
const rounds = 5;
const similarSeconds = 10;
const similar = "/recommend-items-to-item";

/** Measures the same users with and without a filter, in turns, so other work on the machine affects both. */
async function main([servingUri = "", key = "", users = "", items = ""]: string[]): Promise<void> {
  const { origin, pathname } = new URL(servingUri);
  const api = connect({ url: origin, key });
  const plain = await asking(api, pathname, Number(users));
  // Each call has one of the filters that match 1 % of the items.
  const filtered = await asking(api, pathname, Number(users), (user) => ({
    filter_query: `item.shelf == "s${user % shelves}"`,
  }));
  for (const ask of [plain, filtered]) await warmUp(ask);
  const anyUser = () => Math.floor(Math.random() * Number(users));
  const [without, withFilter]: Awaited<ReturnType<typeof latencies>>[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    without?.push(await latencies(plain, anyUser, rate));
    withFilter?.push(await latencies(filtered, anyUser, rate));
  }
  const headers = { ...(await api.headers(similar)), "content-type": "application/json" };
  const askSimilar = (item: number) =>
    api.post(`${pathname}${similar}`, headers, JSON.stringify({ item_ids: [`i${item}`], limit: 10 }));
  const anyItem = () => Math.floor(Math.random() * Number(items));
  await warmUp(askSimilar);
  const until = performance.now() + similarSeconds * 1000;
  const { count, seconds } = await asked(askSimilar, () =>
    performance.now() < until ? anyItem() : undefined,
  );
  const [one, other] = [medianOf(without ?? []), medianOf(withFilter ?? [])];
  process.send?.({
    plainP99Ms: one.p99Ms,
    filteredP99Ms: other.p99Ms,
    plainP50Ms: one.p50Ms,
    filteredP50Ms: other.p50Ms,
    askedLateP99Ms: Math.max(one.askedLateP99Ms, other.askedLateP99Ms),
    similarPerSecond: count / seconds,
  } satisfies FilterAnswers);
}

/** Returns the round with the median p99, because a short pause of the machine can delay all calls of one round. */
function medianOf<T extends { readonly p99Ms: number }>(turns: readonly T[]): T {
  return [...turns].sort((a, b) => a.p99Ms - b.p99Ms)[Math.floor(turns.length / 2)] as T;
}

if (require.main === module) void main(process.argv.slice(2)).then(() => process.exit());
