import { routes } from "../../contract";
import { type Made, servingIn } from "./account";
import { type Program, serving } from "./program";
import { callOf } from "./reasons";
import type { Kind } from "./rows";
import type { World } from "./world";

/**
 * Checks that the service has the declared objects and that each object was created for a reason. Any other object
 * must be deleted, or reported to the user as orphaned. Without a program, nothing is declared.
 */
export async function verify(world: World, program?: Program): Promise<void> {
  const { engine, account, observed } = world;
  await observed.service.idle();
  const ids = [...engine.held.values()]
    .filter(({ name }) => name !== "twin")
    .map(({ kind, id }) => `${kind} ${id}`);
  expect(ids).toEqual([...new Set(ids)]);
  // The API can neither list nor delete these objects, so all of them still exist.
  for (const kind of ["UserDataset", "ItemDataset", "Project", "Algorithm"] as const)
    expectOnly(world, kind, account.made(callOf[kind]));
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  const there = new Set(eventDatasets.map(({ eventDatasetId }) => eventDatasetId));
  const events = account.made(callOf.EventDataset).filter(({ id }) => there.has(id));
  expectOnly(world, "EventDataset", events);
  await verifyModels(world);
  verifyServing(world, program);
  for (const call of new Set(Object.values(callOf))) {
    const unfounded = account.made(call).slice(world.reasons.most(call));
    expect({ call, unfounded }).toEqual({ call, unfounded: [] });
  }
}

/** Checks that only objects in the state and reported orphans exist. */
function expectOnly(world: World, kind: Kind, there: readonly Made[]): void {
  const held = heldOf(world, kind);
  const strays = there.filter((made) => !held.includes(made.id) && !isExcused(world, made));
  expect({ kind, strays }).toEqual({ kind, strays: [] });
  expect(there.map(({ id }) => id)).toEqual(expect.arrayContaining(held));
}

function heldOf({ engine }: World, kind: Kind): string[] {
  return [...engine.held.values()].filter((one) => one.kind === kind).map(({ id }) => id);
}

function isExcused({ account, forgotten }: World, made: Made): boolean {
  return account.isLeft(made) || account.wentWithMachine(made) || forgotten.has(made.id);
}

/** A model is expected if it or its job is in the state, and a job if its model is. */
async function verifyModels(world: World): Promise<void> {
  const { account, engine, observed, askedAgain } = world;
  const jobs = new Map<string, Made>();
  for (const job of account.made(callOf.TrainingJob)) jobs.set((await world.modelOf(job)) ?? job.id, job);
  const models: Made[] = [];
  for (const { id: projectId } of account.made(callOf.Project)) {
    const list = await observed.call(routes.listModels, { projectId });
    models.push(...list.models.map(({ modelId }) => ({ ...(jobs.get(modelId) as Made), id: modelId })));
  }
  const held = heldOf(world, "Model");
  const isOfKnownJob = ({ id }: Made) => {
    const job = jobs.get(id) as Made;
    return isExcused(world, job) || askedAgain.has(job.id);
  };
  expectOnly(
    world,
    "Model",
    models.filter((model) => held.includes(model.id) || !isOfKnownJob(model)),
  );
  const isKnownModel = (id: string) => engine.everHeld.has(id) || account.isNamed(id);
  const byModel = new Set([...jobs].flatMap(([id, job]) => (isKnownModel(id) ? job.id : [])));
  for (const call of [callOf.TrainingJob, callOf.DeploymentJob]) {
    const unknown = account
      .made(call)
      .filter((job) => !world.isKnown(job) && !byModel.has(job.id) && !isExcused(world, job));
    expect({ call, unknown }).toEqual({ call, unknown: [] });
  }
}

/** Checks that the declared deployment is live, and no other one that was not reported to the user. */
function verifyServing(world: World, program?: Program): void {
  const { account, engine, observed } = world;
  const declared = program && serving(program, engine.of);
  const live = heldOf(world, "Deployment");
  expect(live).toHaveLength(declared ? 1 : 0);
  const rows = servingIn(observed.service.dataDir);
  for (const { id: projectId } of account.made(callOf.Project)) {
    const row = rows.find((each) => each.projectId === projectId);
    const job = account.made(callOf.DeploymentJob).find(({ id }) => id === row?.jobId);
    // Nobody knows the submissions of a lost machine, and the API does not list live deployments.
    if (job && account.wentWithMachine(job)) continue;
    const { generator, ranker, qps } = row ?? {};
    if (live.includes(projectId))
      expect({ projectId, generator, ranker, qps }).toEqual({ projectId, ...declared });
    else if (job) expect({ job, isToldOf: isToldToServe(world, job) }).toEqual({ job, isToldOf: true });
  }
}

function isToldToServe({ account, askedAgain, forgotten, messages }: World, job: Made): boolean {
  const words = ["still serves", "may still serve", "will serve once the job succeeds"].map(
    (outlook) => `project ${job.projectId} ${outlook}`,
  );
  const isTold = messages.some(({ message }) => words.some((each) => message.includes(each)));
  return isTold || account.isLeft(job) || askedAgain.has(job.id) || forgotten.has(job.id);
}
