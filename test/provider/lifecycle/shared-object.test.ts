import { routes } from "../../../contract";
import { originHeader } from "../../../contract/origin";
import { ObservedService } from "../../engine/observed-service";
import { Carriers, carrierNames } from "../../faults/carriers";
import { LocalStack } from "../../faults/runs";

const said: string[] = [];
const carriers = new Carriers((_, message) => said.push(message));
let observed: ObservedService;
let stack: LocalStack;
beforeAll(async () => {
  observed = await ObservedService.start();
  stack = new LocalStack(observed.config, carriers);
});
afterAll(async () => {
  await stack.close();
  carriers.close();
  await observed.close();
});

const ofOther = { headers: { [originHeader]: "test/other/users" } };
const ref = (objectId: string) => ({ objectType: "USER_DATASET" as const, objectId });
const isOrphaned = async (id: string) =>
  (await observed.call(routes.listOrphans, {})).orphans.some(({ objectId }) => objectId === id);

describe.each(carrierNames)("a dataset that two stacks use, carried as %s", (carrier) => {
  test("is kept when the stack that created it is destroyed, and a message names the other stack", async () => {
    const name = `created-${carrier}`;
    await stack.begin(carrier);
    const { id } = await stack.up("UserDataset", name, { name, numShards: 1 });
    await observed.client.call(routes.markOrphaned, { ...ref(id), orphaned: false }, ofOther);
    said.length = 0;
    await stack.destroy("UserDataset", name);
    expect(said).toEqual([`keeping ${id}: stack test/other uses it`]);
    expect(await isOrphaned(id)).toBe(false);
  });

  test("is kept when its creator leaves it after this stack has adopted it", async () => {
    const name = `adopted-${carrier}`;
    const fields = { name, numShards: 1 };
    const { userDatasetId: id } = await observed.client.call(routes.createUserDataset, fields, ofOther);
    await stack.begin(carrier);
    await stack.up("UserDataset", name, { ...fields, existingId: id });
    const left = await observed.client.call(routes.markOrphaned, ref(id), ofOther);
    expect(left).toMatchObject({ orphaned: false, heldBy: ["test/faults"] });
    await stack.destroy("UserDataset", name);
    expect(await isOrphaned(id)).toBe(true);
  });
});
