import { type Service, startService } from "../../service";
import { eventually } from "./jobs/watched";
import { ManualClock } from "./manual-clock";
import { Refusal, Running } from "./running";
import { deploy, openShop, trainModel } from "./shop";

const qps = 10;
const beatMs = 2000;

describe("the qps of a deployment on PostgreSQL", () => {
  // Each process has a separate clock, so one can stand still while the other advances.
  const clocks = { one: new ManualClock(), other: new ManualClock() };
  let one: Running;
  let other: Service;
  beforeAll(async () => {
    one = await Running.start({ clock: clocks.one }, "postgres");
    const shop = await openShop(one);
    await deploy(one, shop.projectId, await trainModel(one, shop), { qps });
    const { store = "", key = "" } = one.options;
    other = await startService({ store, key, role: "api", clock: clocks.other, log: "none" });
  });
  afterAll(async () => {
    await other.close();
    await one.end();
  });

  /** Sends more calls to a process at one moment than the rate allows, and counts those that pass. */
  async function passing({ url }: Service): Promise<number> {
    let passed = 0;
    for (let call = 0; call < 2 * qps; call++)
      try {
        await one.call("recommendItemsToUser", { userId: "u1" }, { base: url });
        passed++;
      } catch (error) {
        if (!(error instanceof Refusal && error.status === 429)) throw error;
      }
    return passed;
  }

  /** Returns how many calls pass at each process in each of some seconds. */
  async function inSeconds(seconds: number): Promise<[number, number][]> {
    const counts: [number, number][] = [];
    for (let second = 0; second < seconds; second++) {
      for (const clock of Object.values(clocks)) clock.advance(1000);
      counts.push([await passing(one.service), await passing(other)]);
    }
    return counts;
  }

  /** Waits until a process has counted the processes, which it does at its next heartbeat. */
  async function untilSeen(clock: ManualClock, service: Service, share: number): Promise<void> {
    await eventually(async () => {
      clock.advance(beatMs);
      return (await passing(service)) === share;
    });
  }

  test("is divided among the API processes", async () => {
    await untilSeen(clocks.one, one.service, qps / 2);
    await untilSeen(clocks.other, other, qps / 2);
    expect(await inSeconds(3)).toEqual(Array(3).fill([qps / 2, qps / 2]));
    expect([await passing(one.service), await passing(other)]).toEqual([0, 0]);
  });

  test("is divided among the others if an API process sends no heartbeat for 6 s, until it sends one again", async () => {
    await one.ask("update processes set seen_ts = seen_ts - 6001");
    await untilSeen(clocks.one, one.service, qps);
    await untilSeen(clocks.other, other, qps / 2);
    await untilSeen(clocks.one, one.service, qps / 2);
    expect(await inSeconds(2)).toEqual(Array(2).fill([qps / 2, qps / 2]));
  });

  test("is divided among the others when an API process ends", async () => {
    await other.close();
    await untilSeen(clocks.one, one.service, qps);
  });
});
