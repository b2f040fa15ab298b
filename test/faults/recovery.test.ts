import fc from "fast-check";
import { ObservedService } from "../engine/observed-service";
import type { Message } from "./account";
import { bindingChoices } from "./binding-choice";
import { Bindings } from "./bindings";
import type { Harm } from "./harm";
import type { Meddling } from "./meddling";
import { first, type Place, type Program, places } from "./program";
import { FaultProxy } from "./proxy";
import { callOf } from "./reasons";
import { type Kind, kinds } from "./rows";
import { World } from "./world";

// Fixed seeds, so a change does not fail by chance. `npm run test:sequences` tries random ones.
const { SEQUENCES, SEED = "-546949215" } = process.env;
const runs = Number(SEQUENCES ?? 60);
const longestMs = 2 * 3_600_000;
jest.setTimeout(2 * longestMs);

let observed: ObservedService;
let proxy: FaultProxy;
const messages: Message[] = [];
const bindings = new Bindings((urn, message, isEphemeral) => {
  if (!isEphemeral) messages.push({ urn, message });
});
beforeAll(async () => {
  observed = await ObservedService.start({ faults: true, planShards: 1_000_000 });
  proxy = await FaultProxy.start(observed.service);
});
afterAll(async () => {
  bindings.close();
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
  fc.boolean().map((ranked) => ({ ranked })),
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

/** A destroy sends fewer calls. */
const destroyHarms = harms.map(({ how, at }): Harm => ({ how, at: Math.ceil(at / 3) }));

type Command = fc.AsyncCommand<{ program: Program }, World>;

class Change implements Command {
  constructor(readonly change: Partial<Program>) {}
  check = () => true;
  async run(model: { program: Program }, world: World): Promise<void> {
    const before = model.program;
    model.program = { ...before, ...this.change };
    world.reasons.toChange(before, model.program);
  }
  toString = () => `declare ${JSON.stringify(this.change)}`;
}

class Rename implements Command {
  constructor(
    readonly place: Place,
    readonly aliased: boolean,
  ) {}
  check = () => true;
  async run(model: { program: Program }, world: World): Promise<void> {
    const before = model.program;
    const { renamed } = before;
    const others = renamed.filter((place) => place !== this.place);
    const now = others.length < renamed.length ? others : [...others, this.place];
    model.program = { ...before, renamed: now, aliased: this.aliased };
    world.rename(before, model.program);
  }
  toString = () => `rename ${this.place}${this.aliased ? " with an alias" : ""}`;
}

class Up implements Command {
  constructor(
    readonly harm: Harm,
    readonly programHears: boolean,
    readonly replaced?: Kind,
  ) {}
  check = () => true;
  async run(model: { program: Program }, world: World): Promise<void> {
    world.engine.programHears = this.programHears;
    await world.up(model.program, this.harm, this.replaced);
  }
  toString = () => {
    const options = `${this.programHears ? "" : ", program deaf"}${this.replaced ? `, --replace ${this.replaced}` : ""}`;
    return `up with ${this.harm.how} at call ${this.harm.at}${options}`;
  };
}

class Destroy implements Command {
  constructor(readonly harm: Harm) {}
  check = () => true;
  async run(_: unknown, world: World): Promise<void> {
    await world.down(this.harm);
  }
  toString = () => `destroy with ${this.harm.how} at call ${this.harm.at}`;
}

class OtherMachine implements Command {
  check = () => true;
  async run(_: unknown, world: World): Promise<void> {
    world.changeMachine();
  }
  toString = () => "go on from another machine";
}

class Meddle implements Command {
  constructor(readonly what: Meddling) {}
  check = () => true;
  run = (_: unknown, world: World) => world.meddle(this.what);
  toString = () => `behind its back: ${this.what}`;
}

class Recover implements Command {
  check = () => true;
  async run(model: { program: Program }, world: World): Promise<void> {
    await world.recover(model.program);
  }
  toString = () => "recover";
}

const commands = fc.commands(
  [
    changes.map((change) => new Change(change)),
    fc.tuple(fc.constantFrom(...places), fc.boolean()).map(([place, aliased]) => new Rename(place, aliased)),
    fc.tuple(harms, fc.boolean()).map(([harm, hears]) => new Up(harm, hears)),
    fc.tuple(harms, fc.boolean()).map(([harm, hears]) => new Up(harm, hears)),
    fc
      .tuple(harms, fc.boolean(), fc.constantFrom(...kinds))
      .map(([harm, hears, replaced]) => new Up(harm, hears, replaced)),
    destroyHarms.map((harm) => new Destroy(harm)),
    fc.constant(new OtherMachine()),
    fc
      .constantFrom<Meddling>("deleteEvents", "renameEvents", "shutDown", "deleteModel")
      .map((what) => new Meddle(what)),
    fc.constant(new Recover()),
  ],
  { maxCommands: 8 },
);

/** Runs `work` in a new world. `hidesKeys` tells whether the service ignores idempotency keys. */
async function inWorld(
  hidesKeys: boolean,
  work: (world: World) => Promise<void>,
  options: ConstructorParameters<typeof World>[4] = {},
): Promise<void> {
  proxy.clear();
  proxy.hidesKeys = hidesKeys;
  messages.length = 0;
  const world = new World(observed, proxy, bindings, messages, options);
  await work(world).finally(() => world.close());
}

test("after any fault, the next runs create what the program declares and lose nothing", async () => {
  const seed = Number(SEED);
  let tried = 0;
  const property = fc.asyncProperty(
    fc.boolean(),
    commands,
    destroyHarms,
    bindingChoices,
    async (hidesKeys, sequence, lastHarm, bindingChoice) => {
      tried++;
      const model = { program: first };
      const play = async (world: World) => {
        await fc.asyncModelRun(() => ({ model, real: world }), sequence);
        await world.recover(model.program);
        await world.down(lastHarm);
        await world.destroy();
      };
      await inWorld(hidesKeys, play, { bindingChoice });
    },
  );
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: longestMs, endOnFailure: true });
  // A failure reports its seed.
  process.stdout.write(`${tried} sequences, seed ${seed}\n`);
});

test("a create without a response is reported although the run that replaced its placeholder was killed", async () => {
  await inWorld(
    true,
    async (world) => {
      await world.up(first, { how: "loseReply", at: 4 });
      world.changeMachine();
      await world.up(first, { how: "killBefore", at: 8 }, "ItemDataset");
      await world.recover(first);
    },
    {
      bindingChoice: { isTypeScript: true, bindings: ["dynamic"] },
    },
  );
});

test("two datasets that are replaced in one run are each created once", async () => {
  const two = { ...first, second: true };
  await inWorld(false, async (world) => {
    world.reasons.toChange(first, two);
    await world.recover(two);
    await world.up(two, { how: "nothing", at: 1 }, "EventDataset");
    await world.recover(two);
    expect(world.account.made(callOf.EventDataset)).toHaveLength(4);
  });
});

test("an interrupted create does not adopt the dataset that another resource creates", async () => {
  const two = { ...first, second: true, trained: false, deployed: false };
  const begun: number[] = [];
  for (let at = 3; at <= 6; at++) {
    await inWorld(true, async (world) => {
      world.reasons.toChange(first, two);
      await world.up(two, { how: "killBefore", at });
      begun.push(
        world.account.journal().filter(({ path, id }) => path === "/create-event-dataset" && !id).length,
      );
      await world.destroy();
      await world.recover(two);
    });
  }
  expect(begun).toContain(1);
});

test("a training whose response was lost is found by the name of its submission, even if it was renamed since", async () => {
  const daily = { ...first, modelName: "daily" };
  const submitted: number[] = [];
  for (let at = 8; at <= 10; at++) {
    await inWorld(true, async (world) => {
      await world.up(first, { how: "killAfter", at });
      submitted.push(world.account.made(callOf.TrainingJob).length);
      world.reasons.toChange(first, daily);
      await world.recover(daily);
      expect(world.account.made(callOf.TrainingJob)).toHaveLength(1);
    });
  }
  expect(submitted).toEqual([0, 1, 1]);
});

test("a deployment that a killed destroy has shut down is not reported as live", async () => {
  await inWorld(false, async (world) => {
    await world.recover(first);
    await world.down({ how: "killAfter", at: 1 });
    await world.engine.refresh();
    expect([...world.engine.held.keys()]).toContain("DeploymentJob live");
    expect([...world.engine.held.keys()]).not.toContain("Deployment live");
    await world.destroy();
    expect(messages.filter(({ message }) => message.includes("still serves"))).toEqual([]);
  });
});

test.each([
  ["what a killed run has deployed in between", first],
  [
    "the same for a deployment renamed with an alias",
    { ...first, renamed: ["live"], aliased: true } as const,
  ],
])("%s is no longer live after the program was reverted", async (_, program) => {
  const faster = { ...program, qps: 600 };
  await inWorld(false, async (world) => {
    await world.recover(first);
    world.rename(first, program);
    for (const at of [1, 2, 3, 4]) {
      await world.recover(program);
      world.reasons.toChange(program, faster);
      await world.up(faster, { how: "killAfter", at });
      world.reasons.toChange(faster, program);
    }
    await world.recover(program);
  });
});
