import { resetAfter } from "../faults/faults";
import { FaultProxy } from "../faults/proxy";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = (users: string) => `
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", ${users});
export const id = users.userDatasetId;
`;

describe("a create whose response was lost, on a service without idempotency keys", () => {
  let observed: ObservedService;
  let proxy: FaultProxy;
  let workspace: EngineWorkspace;
  beforeAll(async () => {
    observed = await ObservedService.start();
    proxy = await FaultProxy.start(observed.service);
    proxy.hidesKeys = true;
    workspace = await engineWorkspace(program("{ numShards: 1 }"), {
      ...observed.environment,
      RECOMMENDER_BASE_URL: proxy.url,
    });
  });
  afterAll(async () => {
    await workspace.dispose();
    await proxy.close();
    await observed.close();
  });

  const taken = () => proxy.taken.filter(({ call }) => call === "POST /create-user-dataset");
  const creations = () => taken().length;
  const failure = () =>
    workspace.stack.up().then(
      () => "it went through",
      (error: Error) => error.message,
    );

  test("stops the run with the candidate and the command that adopts it", async () => {
    proxy.on("POST /create-user-dataset", resetAfter);
    expect(await failure()).toMatch(
      /may have succeeded.*RECOMMENDER_ADOPT=users=ID pulumi up.*RECOMMENDER_CREATE_AGAIN=users pulumi up/s,
    );
    expect(creations()).toBe(1);
  });

  test("is not repeated without a decision of the user, not even on a machine without the journal", async () => {
    expect(await failure()).toContain("existingId");
    workspace.stack.workspace.envVars.XDG_STATE_HOME = workspace.directory;
    expect(await failure()).toContain("existingId");
    expect(creations()).toBe(1);
  });

  test("can be adopted by id, and is a normal resource afterwards", async () => {
    const { user_dataset_id: id } = JSON.parse(taken()[0]?.answer ?? "");
    await workspace.setProgram(program(`{ numShards: 1, existingId: "${id}" }`));
    const { outputs } = await workspace.stack.up();
    expect(outputs.id?.value).toBe(id);
    await workspace.setProgram(program("{ numShards: 1 }"));
    const { summary } = await workspace.stack.up();
    expect(summary.resourceChanges).toEqual({ same: 2 });
    expect(creations()).toBe(1);
  });

  test("is repeated if the user decides so", async () => {
    await workspace.setProgram(program("{ numShards: 1, name: 'people' }"));
    proxy.on("POST /create-user-dataset", resetAfter);
    expect(await failure()).toContain("existingId");
    workspace.stack.workspace.envVars.RECOMMENDER_CREATE_AGAIN = "1";
    const { summary } = await workspace.stack.up();
    expect(summary.resourceChanges).toMatchObject({ same: 1 });
    expect(creations()).toBe(3);
    delete workspace.stack.workspace.envVars.RECOMMENDER_CREATE_AGAIN;
    expect((await workspace.stack.up()).summary.resourceChanges).toEqual({ same: 2 });
  });
});
