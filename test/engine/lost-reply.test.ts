import { resetAfter } from "../faults/faults";
import { FaultProxy } from "../faults/proxy";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = (users: string) => `
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", ${users});
export const id = users.userDatasetId;
`;

describe("a creation whose answer was lost, with a service that honours no keys", () => {
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

  test("stops the run, which says what may be there and how to adopt it", async () => {
    proxy.on("POST /create-user-dataset", resetAfter);
    expect(await failure()).toMatch(
      /may have succeeded.*RECOMMENDER_ADOPT=users=ID pulumi up.*RECOMMENDER_CREATE_AGAIN=users pulumi up/s,
    );
    expect(creations()).toBe(1);
  });

  test("is not made a second time unasked, not even from a machine that knows only the state", async () => {
    expect(await failure()).toContain("existingId");
    workspace.stack.workspace.envVars.XDG_STATE_HOME = workspace.directory;
    expect(await failure()).toContain("existingId");
    expect(creations()).toBe(1);
  });

  test("is taken over by its id, and then known like any other", async () => {
    const { user_dataset_id: id } = JSON.parse(taken()[0]?.answer ?? "");
    await workspace.setProgram(program(`{ numShards: 1, existingId: "${id}" }`));
    const { outputs } = await workspace.stack.up();
    expect(outputs.id?.value).toBe(id);
    await workspace.setProgram(program("{ numShards: 1 }"));
    const { summary } = await workspace.stack.up();
    expect(summary.resourceChanges).toEqual({ same: 2 });
    expect(creations()).toBe(1);
  });

  test("is made when that is asked for", async () => {
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
