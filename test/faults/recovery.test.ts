import fc from "fast-check";
import { say } from "../../provider/engine-log";
import { ObservedService } from "../engine/observed-service";
import { first, type Program } from "./program";
import { FaultProxy } from "./proxy";
import { type Harm, type Meddling, World } from "./world";

const runs = Number(process.env.SEQUENCES ?? 1000);
const longestMs = 5 * 60_000;
jest.setTimeout(2 * longestMs);

let observed: ObservedService;
let proxy: FaultProxy;
const said: string[] = [];
beforeAll(async () => {
  observed = await ObservedService.start({ faults: true, planShards: 1_000_000 });
  proxy = await FaultProxy.start(observed.service);
  for (const way of ["progress", "info", "warn", "debug"] as const) {
    jest.spyOn(say, way).mockImplementation(async (_urn, message) => {
      if (way !== "progress" && way !== "debug") said.push(message);
    });
  }
});
afterAll(async () => {
  await proxy.close();
  await observed.close();
});

const changes = fc.oneof(
  fc.constantFrom(1, 2).map((shards) => ({ shards })),
  fc.constantFrom("events", "clicks").map((eventsName) => ({ eventsName })),
  fc.constantFrom("users", "people").map((usersName) => ({ usersName })),
  fc.boolean().map((second) => ({ second })),
  fc.constantFrom(4, 6).map((parameters) => ({ parameters })),
  fc.integer({ min: 0, max: 3 }).map((trigger) => ({ trigger })),
  fc.constantFrom("weekly", "daily").map((modelName) => ({ modelName })),
  fc.constant({ trained: false, deployed: false }),
  fc.constant({ trained: true, deployed: true }),
  fc.constant({ deployed: false }),
  fc.constantFrom(500, 600).map((qps) => ({ qps })),
) as fc.Arbitrary<Partial<Program>>;

const harms: fc.Arbitrary<Harm> = fc.record({
  how: fc.constantFrom(
    "nothing",
    "killBefore",
    "killAfter",
    "killAfter",
    "loseRequest",
    "loseReply",
    "failTraining",
  ),
  at: fc.integer({ min: 1, max: 14 }),
});

type Command = fc.AsyncCommand<{ program: Program }, World>;

class Change implements Command {
  constructor(readonly change: Partial<Program>) {}
  check = () => true;
  async run(model: { program: Program }): Promise<void> {
    model.program = { ...model.program, ...this.change };
  }
  toString = () => `declare ${JSON.stringify(this.change)}`;
}

class Up implements Command {
  constructor(
    readonly harm: Harm,
    readonly programHears: boolean,
  ) {}
  check = () => true;
  async run(model: { program: Program }, world: World): Promise<void> {
    world.engine.programHears = this.programHears;
    await world.up(model.program, this.harm);
  }
  toString = () =>
    `up with ${this.harm.how} at call ${this.harm.at}${this.programHears ? "" : ", program deaf"}`;
}

class Meddle implements Command {
  constructor(readonly what: Meddling) {}
  check = () => true;
  run = (_: unknown, world: World) => world.meddle(this.what);
  toString = () => `behind its back: ${this.what}`;
}

class Recover implements Command {
  check = () => true;
  run = (model: { program: Program }, world: World) => world.recover(model.program);
  toString = () => "recover";
}

const commands = fc.commands(
  [
    changes.map((change) => new Change(change)),
    fc.tuple(harms, fc.boolean()).map(([harm, hears]) => new Up(harm, hears)),
    fc.tuple(harms, fc.boolean()).map(([harm, hears]) => new Up(harm, hears)),
    fc
      .constantFrom<Meddling>("deleteEvents", "renameEvents", "shutDown", "deleteModel")
      .map((what) => new Meddle(what)),
    fc.constant(new Recover()),
  ],
  { maxCommands: 8 },
);

test("whatever happens to a run, the next ones bring the service to what is declared and lose nothing", async () => {
  const seed = Number(process.env.SEED ?? Date.now() & 0xffffffff);
  let tried = 0;
  const property = fc.asyncProperty(fc.boolean(), commands, async (hidesKeys, sequence) => {
    tried++;
    proxy.clear();
    proxy.hidesKeys = hidesKeys;
    said.length = 0;
    const world = new World(observed, proxy, said);
    const model = { program: first };
    try {
      await fc.asyncModelRun(() => ({ model, real: world }), sequence);
      await world.recover(model.program);
      await world.destroy();
      expect([...world.engine.held.keys()]).toEqual([]);
    } finally {
      await world.engine.close();
    }
  });
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: longestMs, endOnFailure: true });
  process.stdout.write(`${tried} sequences, seed ${seed}\n`);
});
