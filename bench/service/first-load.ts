import { connect } from "./api";
import { asked, asking, latencies, warmUp } from "./load";

/** Answers for users who are not cached. */
export interface FirstAnswers {
  readonly answersPerSecond: number;
  readonly cpuMsOfAnswer: number;
  /** Latencies at a constant rate; undefined if they are not measured. */
  readonly paced?: Awaited<ReturnType<typeof latencies>> | undefined;
}

/** Calls per second. */
const rate = 500;
/**
 * Share of the users for the measurement without pauses. All other users are for the measurement at a constant rate.
 */
const share = 0.5;

/** Requests the recommendations of each user at most once, after a warm-up with a few users. */
async function main([servingUri = "", key = "", count, paced = "paced"]: string[]): Promise<void> {
  const { origin, pathname } = new URL(servingUri);
  const api = connect({ url: origin, key });
  const users = Number(count);
  const ask = await asking(api, pathname, users);
  let user = await warmUp(ask);
  const until = paced === "paced" ? Math.floor(users * share) : users;
  const cpuBefore = (await api.status()).cpu_sec;
  const { count: answers, seconds } = await asked(ask, () => (user < until ? user++ : undefined));
  const cpuSec = (await api.status()).cpu_sec - cpuBefore;
  process.send?.({
    answersPerSecond: answers / seconds,
    cpuMsOfAnswer: (1000 * cpuSec) / answers,
    // With fewer users than calls, the last calls are for cached users. That only happens in runs on a smaller scale.
    ...(paced === "paced" && { paced: await latencies(ask, () => user++ % users, rate) }),
  } satisfies FirstAnswers);
}

if (require.main === module) void main(process.argv.slice(2)).then(() => process.exit());
