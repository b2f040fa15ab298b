import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { type G1Model, type Team, trainG1, type Work } from "../../../service/algorithms";
import { modulePath, threadOptions } from "../../../service/base/package-paths";
import { takeParts } from "../../../service/threads/helper";
import { shareOf } from "../../../service/threads/share";
import { ThreadTeam } from "../../../service/threads/team";
import { createWorld } from "../algorithms/world";

const { interactions } = createWorld({ users: 90, items: 70 });
const given = { neighbours: 0.5, alpha: 0.4, damping: 0 };
const train = (team?: Team): G1Model => trainG1({ interactions }, given, undefined, team);
const alone = train();

/** A team that leaves every part of every step to the helper thread. */
class OtherThread implements Team {
  readonly size = 2;
  private readonly channel = new MessageChannel();
  private readonly helper = new Worker(modulePath("service/threads/helper"), {
    workerData: { thread: 1, port: this.channel.port2 },
    transferList: [this.channel.port2],
    ...threadOptions(),
  });

  run(work: Work): void {
    const counters = new Int32Array(new SharedArrayBuffer(12));
    this.channel.port1.postMessage({ work, counters, share: shareOf(this.size) });
    while ((counters[1] as number) < work.parts) Atomics.wait(counters, 1, counters[1] as number, 100);
  }

  close(): Promise<number> {
    this.channel.port1.close();
    return this.helper.terminate();
  }
}

test("a helper thread computes the same model, byte for byte", async () => {
  const other = new OtherThread();
  expect(train(other)).toEqual(alone);
  await other.close();
});

test("any number of threads computes the same model, byte for byte", async () => {
  const team = new ThreadTeam(3, shareOf(3), 0);
  expect(train(team)).toEqual(alone);
  await team.close();
});

test("a step that fails in a helper thread fails the training", async () => {
  const team = new ThreadTeam(2, shareOf(2), 0);
  const broken = { kind: "solve", parts: 1e9, size: 1, scratch: [] } as unknown as Work;
  expect(() => team.run(broken)).toThrow();
  await team.close();
});

test("a helper thread that ends fails the training, which would wait forever otherwise", async () => {
  const team = new ThreadTeam(2, shareOf(2), 0, join(__dirname, "helper-that-ends.js"));
  expect(() => train(team)).toThrow("A helper thread of the training exited unexpectedly.");
  await team.close();
});

test("a helper stops working on a step when another training needs its thread", () => {
  const newCounters = () => new Int32Array(new SharedArrayBuffer(12));
  const steps: Work[] = [];
  const run = (work: Work) => {
    steps.push(work);
    takeParts({ work, counters: newCounters(), share: shareOf(1) }, 0);
  };
  train({ size: 2, run });
  const work = steps.find(({ kind, parts }) => kind === "solve" && parts > 2) as Work;
  const counters = newCounters();
  const { trainings } = shareOf(2);
  let looks = 0;
  const share = {
    trainings,
    get threads() {
      if (++looks === 3) Atomics.store(trainings, 0, 2);
      return 2;
    },
  };
  takeParts({ work, counters, share }, 1);
  expect([...counters]).toEqual([2, 2, 0]);
});
