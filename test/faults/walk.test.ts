import fc from "fast-check";
import { ObservedService } from "../engine/observed-service";
import { type Message, servingIn } from "./account";
import { bindingChoices } from "./binding-choice";
import { type BindingName, Bindings } from "./bindings";
import { declared, first, type Place, type Program, places } from "./program";
import { FaultProxy } from "./proxy";
import { type Kind, keyOf, kinds, type Rows } from "./rows";
import type { RunOptions } from "./selection";
import { Watch } from "./watch";
import { World } from "./world";

// Fixed seeds, so a change does not fail by chance. `npm run test:sequences` tries random ones.
const { SEQUENCES, SEED = "13" } = process.env;
const runs = Number(SEQUENCES ?? 50);
const longestMs = 2 * 3_600_000;
jest.setTimeout(2 * longestMs);

let observed: ObservedService;
let proxy: FaultProxy;
let watch: Watch | undefined;
const messages: Message[] = [];
const bindings = new Bindings((urn, message, isEphemeral) => {
  if (isEphemeral) return;
  messages.push({ urn, message });
  watch?.hear(message);
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

interface Model {
  program: Program;
  saved?: ReturnType<Rows["export"]>;
}

/** Command of the walk. After each one, the objects in the service are checked. */
abstract class Step implements fc.AsyncCommand<Model, World> {
  check = () => true;

  async run(model: Model, world: World): Promise<void> {
    const errors = (await this.walk(model, world)) ?? [];
    for (const { message } of errors) watch?.hear(message);
    watch?.look();
  }

  protected abstract walk(model: Model, world: World): Promise<Error[] | undefined>;
  abstract toString(): string;
}

/** Change of the program, and the kinds that it affects. */
type Edit = readonly [change: Partial<Program>, ...kinds: Kind[]];

const edits = fc.oneof<fc.Arbitrary<Edit>[]>(
  fc.constantFrom(1, 2).map((shards) => [{ shards }, "EventDataset"]),
  fc.boolean().map((second) => [{ second }, "EventDataset"]),
  fc.boolean().map((second) => [{ second }, "EventDataset"]),
  fc.nat({ max: 3 }).map((trigger) => [{ trigger }, "TrainingJob", "Model", "DeploymentJob", "Deployment"]),
  fc.nat({ max: 3 }).map((trigger) => [{ trigger }, "TrainingJob", "Model", "DeploymentJob", "Deployment"]),
  fc.constantFrom(4, 6).map((parameters) => [{ parameters }, "Algorithm", "TrainingJob", "Model"]),
  fc.constant<Edit>([{ trained: false, deployed: false }, "Model", "TrainingJob"]),
  fc.constant<Edit>([{ trained: true, deployed: true }, "Model", "Deployment"]),
  fc.constant<Edit>([{ deployed: false }, "Deployment", "DeploymentJob"]),
  fc.constantFrom(500, 600).map((qps) => [{ qps }, "Deployment", "DeploymentJob"]),
  fc.boolean().map((ranked) => [{ ranked }, "DeploymentJob", "Deployment"]),
  fc.boolean().map((ignoresModel) => [{ ignoresModel }, "TrainingJob", "Model"]),
  fc
    .constantFrom<readonly Kind[]>([], ["Model"], ["EventDataset"], ["Deployment", "DeploymentJob"])
    .map((deleteFirst) => [{ deleteFirst }, ...deleteFirst] as Edit),
);

class Rename extends Step {
  constructor(
    readonly place: Place,
    readonly aliased: boolean,
  ) {
    super();
  }
  protected async walk(model: Model): Promise<undefined> {
    const others = model.program.renamed.filter((place) => place !== this.place);
    const renamed = others.length < model.program.renamed.length ? others : [...others, this.place];
    model.program = { ...model.program, renamed, aliased: this.aliased };
  }
  toString = () => `rename ${this.place}${this.aliased ? " with an alias" : ""}`;
}

/** A further resource adopts the second dataset, whose own resource may then be removed. */
class Adopt extends Step {
  protected walk(model: Model, world: World): Promise<Error[]> {
    model.program = { ...model.program, twin: world.engine.held.get("EventDataset more")?.id };
    return world.upWith(model.program, {});
  }
  toString = () => "adopt the second dataset";
}

/** Selects resources for an option, from the program and the state: all of some kinds, or one of each kind. */
interface Picks {
  readonly kinds: readonly Kind[];
  readonly one: number | null;
}

function picked({ kinds, one }: Picks, { program }: Model, { engine, existing }: World): string[] {
  const keys = [...new Set([...declared(program, existing).map(keyOf), ...engine.held.keys()])].sort();
  return kinds.flatMap((kind) => {
    const all = keys.filter((key) => key.startsWith(`${kind} `));
    return one === null ? all : all.slice(one % all.length, (one % all.length) + 1);
  });
}

type UpOptions = Omit<RunOptions, "targets" | "excludes" | "replace"> & {
  readonly how: "targets" | "excludes" | "replace" | "all";
  readonly picks: Picks;
};

class Up extends Step {
  constructor(
    readonly options: UpOptions,
    readonly destroys: boolean,
  ) {
    super();
  }
  protected walk(model: Model, world: World): Promise<Error[]> {
    const { how, picks, ...others } = this.options;
    const keys = picked(picks, model, world);
    const options = how === "all" || keys.length === 0 ? others : { ...others, [how]: keys };
    if (this.destroys) return world.down({ how: "nothing", at: 1 }, options);
    return world.upWith(model.program, options);
  }
  toString = () => `${this.destroys ? "destroy" : "up"} ${JSON.stringify(this.options)}`;
}

/** Changes the program and runs it with options. */
class Change extends Up {
  constructor(
    readonly change: Partial<Program>,
    options: UpOptions,
  ) {
    super(options, false);
  }
  protected override walk(model: Model, world: World): Promise<Error[]> {
    model.program = { ...model.program, ...this.change };
    return super.walk(model, world);
  }
  override toString = () => `declare ${JSON.stringify(this.change)}, up ${JSON.stringify(this.options)}`;
}

class Refresh extends Step {
  protected walk = (_: Model, { engine }: World) => engine.refresh();
  toString = () => "refresh";
}

class StateDelete extends Step {
  constructor(readonly pick: number) {
    super();
  }
  protected async walk(_: Model, world: World): Promise<undefined> {
    const keys = [...world.engine.held.keys()];
    if (keys.length > 0) world.forget(world.engine.forget(keys[this.pick % keys.length] as string));
  }
  toString = () => `state delete ${this.pick}`;
}

class StateRename extends Step {
  constructor(readonly pick: number) {
    super();
  }
  protected async walk(_: Model, { engine }: World): Promise<undefined> {
    const keys = [...engine.held.keys()];
    const key = keys[this.pick % keys.length];
    const name = key?.split(" ")[1] ?? "";
    const other = name.endsWith("-renamed") ? name.slice(0, -"-renamed".length) : `${name}-renamed`;
    if (key) engine.rename(key, other);
  }
  toString = () => `state rename ${this.pick}`;
}

class Export extends Step {
  protected async walk(model: Model, { engine }: World): Promise<undefined> {
    model.saved = engine.export();
  }
  toString = () => "stack export";
}

class Import extends Step {
  protected async walk({ saved }: Model, world: World): Promise<undefined> {
    if (!saved) return;
    world.forget(world.engine.import(saved));
    world.drift();
  }
  toString = () => "stack import";
}

class Recover extends Step {
  protected async walk(model: Model, world: World): Promise<undefined> {
    model.program = await recovered(model, world);
  }
  toString = () => "recover";
}

/** Applies the program completely, by runs without options. */
async function recovered({ program }: Model, world: World): Promise<Program> {
  const plain = { ...program, ignoresModel: false, deleteFirst: [] };
  return world.recover(plain);
}

const number = fc.nat({ max: 1000 });
const kindsOf = (...most: Kind[]) =>
  fc.uniqueArray(fc.constantFrom(...(most.length > 0 ? most : kinds)), { minLength: 1, maxLength: 3 });
const upOptions = (...most: Kind[]): fc.Arbitrary<UpOptions> =>
  fc.record({
    how: fc.constantFrom("targets", "targets", "targets", "excludes", "replace", "all"),
    picks: fc.record({ kinds: kindsOf(...most), one: fc.option(fc.nat({ max: 3 })) }),
    dependents: fc.boolean(),
    continueOnError: fc.boolean(),
  });
const edited = edits.chain(([change, ...most]) =>
  upOptions(...most).map((options) => new Change(change, options)),
);

const commands = fc.commands(
  [
    ...[edited, edited, edited, edited],
    fc.tuple(fc.constantFrom(...places), fc.boolean()).map(([place, aliased]) => new Rename(place, aliased)),
    fc.constant(new Adopt()),
    upOptions().map((options) => new Up(options, false)),
    upOptions().map((options) => new Up(options, true)),
    fc.constant(new Refresh()),
    number.map((pick) => new StateDelete(pick)),
    number.map((pick) => new StateRename(pick)),
    fc.constant(new Export()),
    fc.constant(new Import()),
    fc.constant(new Recover()),
  ],
  { maxCommands: 10, size: "max" },
);

function watchOver({ engine }: World): Watch {
  const rows = () => [...engine.held.values()].filter((row) => !engine.deleting.has(row));
  return new Watch(rows, proxy, isServing);
}

function isServing(id: string): boolean {
  return servingIn(observed.service.dataDir).some(({ projectId }) => projectId === id);
}

test("with any options, no object in the state is deleted or reported as orphaned", async () => {
  const seed = Number(SEED);
  let tried = 0;
  const property = fc.asyncProperty(commands, bindingChoices, async (sequence, bindingChoice) => {
    tried++;
    proxy.clear();
    proxy.hidesKeys = false;
    messages.length = 0;
    const world = new World(observed, proxy, bindings, messages, { anyStep: true, bindingChoice });
    watch = watchOver(world);
    const model: Model = { program: { ...first, second: true } };
    try {
      await world.recover(model.program);
      await fc.asyncModelRun(() => ({ model, real: world }), sequence);
      await recovered(model, world);
      await world.destroy();
      watch.look();
    } finally {
      await world.close();
      watch = undefined;
    }
  });
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: longestMs, endOnFailure: true });
  process.stdout.write(`${tried} walks, seed ${seed}\n`);
});

test.each<readonly [string, readonly BindingName[]]>([
  ["", ["dynamic"]],
  [", by the other binding too", ["dynamic", "dynamic", "plugin"]],
])("a deployment that is deleted before its replacement, with its job, is live again%s", async (_, drawn) => {
  proxy.clear();
  messages.length = 0;
  const bindingChoice = { isTypeScript: true, bindings: drawn };
  const world = new World(observed, proxy, bindings, messages, { anyStep: true, bindingChoice });
  const program: Program = { ...first, deleteFirst: ["DeploymentJob", "Deployment"] };
  try {
    await world.recover(first);
    const replace = ["DeploymentJob live", "Deployment live"];
    expect(await world.upWith(program, { replace })).toEqual([]);
    expect(isServing(world.engine.of("Deployment", "live").id as string)).toBe(true);
  } finally {
    await world.close();
  }
});
