import { hostname } from "node:os";
import { systemClock } from "../../../client/clock";
import { digest } from "../../../client/state-directory";
import { routes } from "../../../contract";
import { createOnce } from "../../../provider/recovery/create-once";
import { identitiesOf } from "../../../provider/recovery/identity";
import { write } from "../../../provider/recovery/journal";
import type { Context } from "../../../provider/run/context";
import { Run } from "../../../provider/run/session";
import { ObservedService } from "../../engine/observed-service";
import { stackState } from "../../faults/bindings";
import { newStack } from "../../faults/rows";

const dataset = { name: "users", numShards: 1 };
const queries = [{ conditions: [{ attribute: "genre", value: "jazz" }] }];

test.each<[string, unknown, unknown, boolean]>([
  ["fields in another order", { ...dataset }, { numShards: 1, name: "users" }, true],
  [
    "nested keys in another order",
    { attributeSchema: { a: 1, b: 2 } },
    { attributeSchema: { b: 2, a: 1 } },
    true,
  ],
  [
    "keys within lists in another order",
    { queries },
    { queries: [{ conditions: [{ value: "jazz", attribute: "genre" }] }] },
    true,
  ],
  ["a list in another order", { triggers: [1, 2] }, { triggers: [2, 1] }, false],
  ["another nested value", { attributeSchema: { a: 1 } }, { attributeSchema: { a: 2 } }, false],
  ["a nested key more", { attributeSchema: { a: 1 } }, { attributeSchema: { a: 1, b: null } }, false],
  ["another text", "job-1", "job-2", false],
])("with %s, a creation is the same: %#", (_, one, other, isSame) => {
  expect(identitiesOf(one)[0] === identitiesOf(other)[0]).toBe(isSame);
});

test("the identity of 0.1.0 keeps the order of nested keys", () => {
  const fields = { name: "users", numShards: 1, attributeSchema: { b: 2, a: 1 } };
  expect(identitiesOf(fields)[1]).toBe(digest(fields));
  expect(identitiesOf(fields)[0]).toBe(digest({ ...fields, attributeSchema: { a: 1, b: 2 } }));
});

describe("a create in the journal of a killed run", () => {
  let observed: ObservedService;
  beforeAll(async () => {
    observed = await ObservedService.start();
  });
  afterAll(() => observed.close());

  const request = (attributeSchema: Record<string, "NUMERICAL" | "CATEGORICAL">) => ({
    ...{ name: "users", numShards: 1, attributeSchema },
  });
  const written = request({ country: "CATEGORICAL", age: "NUMERICAL" });
  const turned = request({ age: "NUMERICAL", country: "CATEGORICAL" });
  const other = request({ age: "NUMERICAL" });

  test.each([
    ["as 0.1.0 did", digest(written), written, true],
    ["as we do", identitiesOf(written)[0], written, true],
    ["as we do, with nested keys in another order", identitiesOf(written)[0], turned, true],
    ["with another schema", identitiesOf(other)[0], written, false],
  ])("%s, is resumed only if it is the same", async (_, identity, declared, isResumed) => {
    const lineage = newStack();
    const urn = `urn:pulumi:${lineage}::p::pulumi-nodejs:dynamic/recommender:UserDataset::users`;
    const { userDatasetId } = await observed.call(routes.createUserDataset, written);
    await write({
      ...{ urn, service: observed.client.service, path: "/create-user-dataset", identity, key: newStack() },
      ...{ derived: false, at: new Date().toISOString(), pid: 999_999_999, host: hostname() },
      ...{ id: userDatasetId, reply: { userDatasetId }, lineage },
    });
    const { client } = observed;
    const run = new Run(stackState(async () => []));
    const created = await createOnce(
      { client, clock: systemClock, run, urn, settings: { tellOrigin: true } } as Context,
      {
        ...{ route: routes.createUserDataset, request: declared },
        idOf: (reply) => reply.userDatasetId,
      },
    );
    expect(created.resumed).toBe(isResumed);
    expect(created.reply.userDatasetId === userDatasetId).toBe(isResumed);
  });
});
