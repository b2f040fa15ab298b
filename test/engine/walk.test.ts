import { existsSync } from "node:fs";
import fc from "fast-check";
import { routes } from "../../contract";
import { servingIn } from "../faults/account";
import { FaultProxy } from "../faults/proxy";
import { KillingGround } from "./killing";
import { ObservedService } from "./observed-service";
import { type Declaration, firstDeclaration, WalkedStack, walkedProgram } from "./walked-stack";

const atLength = process.env.STEPS !== undefined;
const steps = Number(process.env.STEPS ?? 4);
// A fixed seed, so a change does not fail by chance. `npm run test:walk` tries random ones.
const seed = Number(process.env.WALK_SEED ?? 1);
jest.setTimeout(4 * 3_600_000);

let observed: ObservedService;
let proxy: FaultProxy;
let ground: KillingGround;
beforeAll(async () => {
  observed = await ObservedService.start({ planShards: 100_000 });
  proxy = await FaultProxy.start(observed.service);
  ground = await KillingGround.make(walkedProgram, observed.environment);
});
afterAll(async () => {
  await ground.dispose();
  await proxy.close();
  await observed.close();
});

const kinds = ["EventDataset", "Project", "Algorithm", "TrainingJob", "Model", "DeploymentJob", "Deployment"];
const edits: fc.Arbitrary<Partial<Declaration> | "adopt">[] = [
  fc.nat({ max: 3 }).map((trigger) => ({ trigger })),
  fc.constantFrom(100, 200).map((qps) => ({ qps })),
  fc.boolean().map((second) => ({ second })),
  fc.constant("adopt" as const),
  fc.boolean().map((deployed) => ({ trained: true, deployed })),
  fc.constant({ trained: false, deployed: false }),
  fc.tuple(fc.constantFrom("", "-renamed"), fc.boolean()).map(([suffix, aliased]) => ({ suffix, aliased })),
  fc.boolean().map((isProtected) => ({ isProtected })),
  fc.boolean().map((ignoresModel) => ({ ignoresModel })),
  fc.boolean().map((deleteFirst) => ({ deleteFirst })),
  fc.boolean().map((parented) => ({ parented })),
];
const picks = fc.record({
  kinds: fc.uniqueArray(fc.constantFrom(...kinds), { minLength: 1, maxLength: 2 }),
  at: fc.nat(),
});

/** Step of a walk. */
const drawn = fc.noBias(
  fc.record({
    edit: fc.option(fc.oneof(...edits), { freq: 3 }),
    command: fc.constantFrom(
      ...(["up", "up", "up", "up", "preview", "refresh", "destroy"] as const),
      ...(["delete", "rename", "move", "export", "import", "unprotect"] as const),
    ),
    option: fc.constantFrom("--target", "--target", "--target", "--exclude", "--replace", ""),
    picks,
    dependents: fc.boolean(),
    continues: fc.boolean(),
  }),
);
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

/** Returns the arguments of `pulumi up` or `pulumi destroy`. */
function optionsOf({ command, option, picks, dependents, continues }: Drawn, stack: WalkedStack): string[] {
  const targets = picks.kinds
    .flatMap((kind) => stack.urns(kind))
    .filter((_, at, all) => at === picks.at % all.length || dependents);
  const isApt = option !== "" && targets.length > 0 && !(command === "destroy" && option === "--replace");
  return [
    ...(command === "preview" ? [] : ["--yes", "--skip-preview"]),
    ...(isApt ? targets.flatMap((urn) => [option, urn]) : []),
    ...(isApt && dependents && option === "--target" ? ["--target-dependents"] : []),
    ...(continues && command !== "preview" ? ["--continue-on-error"] : []),
  ];
}

/** Runs one step. A command may be rejected, but must not delete objects in the state. */
async function walk(step: Drawn, stack: WalkedStack, before: Declaration): Promise<Declaration> {
  const { edit, command, picks } = step;
  const twin = stack.held().find(({ name }) => name === "more")?.id ?? before.twin;
  const declaration = { ...before, ...(edit === "adopt" ? { twin } : edit) };
  const all = stack.held();
  const [urn] = picks.kinds.flatMap((kind) => stack.urns(kind)).slice(picks.at % 2);
  const calls = () => proxy.taken.filter(({ call }) => !/^GET|token|recommend/.test(call)).length;
  const made = calls();
  switch (command) {
    case "up":
    case "destroy":
      await stack.run([command, ...optionsOf(step, stack)], declaration);
      break;
    case "preview":
      await stack.run([command, ...optionsOf(step, stack)], declaration);
      expect(calls()).toBe(made);
      break;
    case "refresh":
      await stack.run([command, "--yes"], declaration);
      break;
    case "delete":
      if (urn) await stack.run(["state", "delete", urn, "--target-dependents", "--force", "--yes"]);
      forget(all, stack);
      break;
    case "rename":
      if (urn) await stack.run(["state", "rename", urn, "walked", "--yes"]);
      break;
    case "unprotect":
      await stack.run(["state", "unprotect", "--all", "--yes"]);
      break;
    case "move":
      await moveThereAndBack(urn, stack);
      break;
    case "export":
      await stack.run(["stack", "export", "--file", stack.file("exported.json")]);
      break;
    case "import":
      if (!existsSync(stack.file("exported.json"))) break;
      await stack.run(["stack", "import", "--file", stack.file("exported.json"), "--force"]);
      forget(all, stack);
      // The state may contain objects that were deleted since.
      await stack.run(["refresh", "--yes", "--skip-preview"], declaration);
      break;
  }
  return declaration;
}

/** Ids that the user has removed from the state. */
const forgotten = new Set<string>();

function forget(before: ReturnType<WalkedStack["held"]>, stack: WalkedStack): void {
  const held = new Set(stack.held().map(({ id }) => id));
  for (const { id } of before) if (!held.has(id)) forgotten.add(id);
}

/** Runs `pulumi state move` to another stack and back. The moved objects must stay. */
async function moveThereAndBack(urn: string | undefined, stack: WalkedStack): Promise<void> {
  if (!urn) return;
  const other = `${stack.name}-other`;
  const move = (source: string, dest: string, what: string) =>
    stack.run(["state", "move", "--source", source, "--dest", dest, what, "--include-parents", "--yes"]);
  await move(stack.name, other, urn);
  const moved = urn.replace(`urn:pulumi:${stack.name}::`, `urn:pulumi:${other}::`);
  await move(other, stack.name, moved);
}

test(`through ${steps} steps with options of the engine and state surgery, objects in the state stay`, async () => {
  const stack = new WalkedStack("walk", ground, proxy, observed.service.dataDir);
  const told: string[] = [];
  const tell = (text: string) => {
    told.push(text);
    if (atLength) process.stderr.write(`${text}\n`);
  };
  for (const name of [`${stack.name}-other`, stack.name]) await ground.init(name);
  await ground.run(["stack", "select", stack.name], {});
  let declaration = firstDeclaration;
  const began = Date.now();
  try {
    expect(await stack.run(["up", "--yes", "--skip-preview"], declaration)).toMatchObject({ code: 0 });
    for (const step of fc.sample(drawn, { seed, numRuns: steps })) {
      tell(JSON.stringify(step));
      declaration = await walk(step, stack, declaration);
    }
    await end(stack, { ...declaration, isProtected: false, ignoresModel: false, deleteFirst: false });
  } catch (error) {
    throw new Error(`seed ${seed}, after\n${told.join("\n")}\n${(error as Error).message}`, { cause: error });
  }
  process.stdout.write(`${steps} steps, seed ${seed}, ${Math.round((Date.now() - began) / 1000)} s\n`);
});

/** Applies the program by runs without options, and then destroys the stack. */
async function end(stack: WalkedStack, declared: Declaration): Promise<void> {
  await stack.run(["state", "unprotect", "--all", "--yes"]);
  let declaration = declared;
  for (let tries = 0; ; tries++) {
    const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--refresh"], declaration);
    if (code === 0) break;
    if (tries === 3) throw new Error(`no recovery: ${output}`);
    if (output.includes(`existingId ${declaration.twin}: there is no such`))
      declaration = { ...declaration, twin: null };
  }
  expect(await stack.run(["preview", "--expect-no-changes"], declaration)).toMatchObject({ code: 0 });
  const held = stack.held();
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  const ids = (kind: string) =>
    [...new Set(held.filter((row) => row.kind === kind).map(({ id }) => id))].sort();
  const datasets = eventDatasets
    .map(({ eventDatasetId }) => eventDatasetId)
    .filter((id) => !forgotten.has(id));
  expect(datasets.sort()).toEqual(ids("EventDataset"));
  const serving = servingIn(observed.service.dataDir).filter(({ projectId }) =>
    ids("Project").includes(projectId),
  );
  expect(serving.map(({ generator, qps }) => ({ generator, qps }))).toEqual(
    ids("Model")
      .slice(0, declaration.deployed ? 1 : 0)
      .map((generator) => ({ generator, qps: declaration.qps })),
  );
  const { code, output } = await stack.run(["destroy", "--yes", "--skip-preview"], declaration);
  expect({ code, output: code ? output : "" }).toEqual({ code: 0, output: "" });
  expect(stack.held()).toEqual([]);
}
