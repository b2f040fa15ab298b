import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { type G1Model, type Team, trainG1, type Work } from "../../../service/algorithms";
import { ownFile, threadOptions } from "../../../service/base/own-file";
import { takeParts } from "../../../service/threads/helper";
import { shareOf } from "../../../service/threads/share";
import { ThreadTeam } from "../../../service/threads/team";
import { createWorld } from "../algorithms/world";

// Threads are started; how long that takes is no concern of these tests.
jest.setTimeout(600_000);

const { interactions } = createWorld({ users: 90, items: 70 });
const given = { neighbours: 0.5, alpha: 0.4, damping: 0 };
const train = (team?: Team): G1Model => trainG1({ interactions }, given, undefined, team);
const alone = train();

/** Leaves every part of every step to the other thread. */
class OtherThread implements Team {
  readonly size = 2;
  private readonly channel = new MessageChannel();
  private readonly helper = new Worker(ownFile("service/threads/helper"), {
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

test("another thread comes to the same model, byte for byte", async () => {
  const other = new OtherThread();
  expect(train(other)).toEqual(alone);
  await other.close();
});

test("any number of threads comes to the same model, byte for byte", async () => {
  const team = new ThreadTeam(3, shareOf(3), 0);
  expect(train(team)).toEqual(alone);
  await team.close();
});

test("a step that fails in another thread fails the training", async () => {
  const team = new ThreadTeam(2, shareOf(2), 0);
  const broken = { kind: "solve", parts: 1e9, size: 1, scratch: [] } as unknown as Work;
  expect(() => team.run(broken)).toThrow();
  await team.close();
});

test("a thread that ends in the midst of a part fails the training, which would wait for ever", async () => {
  const team = new ThreadTeam(2, shareOf(2), 0, join(__dirname, "helper-that-ends.js"));
  expect(() => train(team)).toThrow("A thread that helped the training ended in the midst of it.");
  await team.close();
});

test("a helper leaves a step to the others as soon as another training has a right to its thread", () => {
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
