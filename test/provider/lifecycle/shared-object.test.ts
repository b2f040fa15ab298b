import { routes } from "../../../contract";
import { originHeader } from "../../../contract/origin";
import { ObservedService } from "../../engine/observed-service";
import { Bindings, bindingNames } from "../../faults/bindings";
import { LocalStack } from "../../faults/runs";

const messages: string[] = [];
const bindings = new Bindings((_, message) => messages.push(message));
let observed: ObservedService;
let stack: LocalStack;
beforeAll(async () => {
  observed = await ObservedService.start();
  stack = new LocalStack(observed.config, bindings);
});
afterAll(async () => {
  await stack.close();
  bindings.close();
  await observed.close();
});

const ofOther = { headers: { [originHeader]: "test/other/users" } };
const ref = (objectId: string) => ({ objectType: "USER_DATASET" as const, objectId });
const isOrphaned = async (id: string) =>
  (await observed.call(routes.listOrphans, {})).orphans.some(({ objectId }) => objectId === id);

describe.each(bindingNames)("a dataset that two stacks use, with the %s binding", (binding) => {
  test("is kept when the stack that created it is destroyed, and a message names the other stack", async () => {
    const name = `created-${binding}`;
    await stack.begin(binding);
    const { id } = await stack.up("UserDataset", name, { name, numShards: 1 });
    await observed.client.call(routes.markOrphaned, { ...ref(id), orphaned: false }, ofOther);
    messages.length = 0;
    await stack.destroy("UserDataset", name);
    expect(messages).toEqual([`keeping ${id}: stack test/other uses it`]);
    expect(await isOrphaned(id)).toBe(false);
  });

  test("is kept when its creator removes it after this stack has adopted it", async () => {
    const name = `adopted-${binding}`;
    const fields = { name, numShards: 1 };
    const { userDatasetId: id } = await observed.client.call(routes.createUserDataset, fields, ofOther);
    await stack.begin(binding);
    await stack.up("UserDataset", name, { ...fields, existingId: id });
    const left = await observed.client.call(routes.markOrphaned, ref(id), ofOther);
    expect(left).toMatchObject({ orphaned: false, heldBy: ["test/faults"] });
    await stack.destroy("UserDataset", name);
    expect(await isOrphaned(id)).toBe(true);
  });
});
