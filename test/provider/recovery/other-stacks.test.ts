import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../client/clock";
import { readSettings } from "../../../client/settings";
import { routes } from "../../../contract";
import { createOnce } from "../../../provider/recovery/create-once";
import { digest, entriesOf, eraseStored, type JournalEntry, write } from "../../../provider/recovery/journal";
import type { UnknownCreationError } from "../../../provider/recovery/unknown-creation";
import { lineageOf } from "../../../provider/run/backend";
import type { Context } from "../../../provider/run/context";
import { Run } from "../../../provider/run/session";
import { ObservedService } from "../../engine/observed-service";
import { stackState } from "../../faults/bindings";

let observed: ObservedService;
let directory: string;
beforeAll(async () => {
  observed = await ObservedService.start();
});
afterAll(() => observed.close());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "recommender-state-"));
  process.env.XDG_STATE_HOME = directory;
  jest.spyOn(process, "cwd").mockReturnValue(directory);
});
afterEach(() => {
  jest.restoreAllMocks();
  delete process.env.RECOMMENDER_CREATE_AGAIN;
  rmSync(directory, { recursive: true });
});

const urnIn = (stack: string) =>
  `urn:pulumi:${stack}::shop::pulumi-nodejs:dynamic/recommender:UserDataset::users`;
const request = { name: "users", numShards: 1, attributeSchema: null };

/** Journal entry of a killed run of a stack. */
const entryOf = (stack: string, more: Partial<JournalEntry> = {}): JournalEntry => ({
  ...{ urn: urnIn(stack), service: observed.service.url, path: "/create-user-dataset" },
  ...{ identity: digest(request), key: randomUUID(), derived: false, request },
  ...{ at: new Date().toISOString(), pid: 999_999_999, host: hostname() },
  ...more,
});

/** Creates in stack staging. `stacks` are the stacks of the backend; without it, they cannot be listed. */
const create = async (stacks?: readonly string[]) => {
  const settings = readSettings((key) => observed.config[`recommender:${key}`], {});
  const listed = stacks && new Set(stacks.map((stack) => `shop/${stack}`));
  const run = new Run({ ...stackState(async () => []), stacks: async () => listed });
  const context: Context = {
    ...{ settings, client: observed.client, clock: systemClock, run },
    ...{ urn: urnIn("staging"), title: "UserDataset users", timeoutMs: undefined },
  };
  const { reply } = await createOnce(context, {
    route: routes.createUserDataset,
    request,
    idOf: ({ userDatasetId }) => userDatasetId,
  });
  return reply.userDatasetId;
};

test("creating again keeps the journal entry of another stack, and does not ask about it again", async () => {
  const theirs = entryOf("prod", { id: "user-dataset-1", reply: { userDatasetId: "user-dataset-1" } });
  await write(theirs);
  const asked: UnknownCreationError = await create().then(fail, (error) => error);
  expect(asked.message).toMatch(/of stack prod, which may be a former name of this stack.*user-dataset-1/);
  // No call of this stack is lost, so its state has no placeholder that a later run would repeat with the key of prod.
  expect(asked.placeholder).toBeUndefined();

  process.env.RECOMMENDER_CREATE_AGAIN = "users";
  const first = await create();
  delete process.env.RECOMMENDER_CREATE_AGAIN;
  expect(first).not.toBe("user-dataset-1");
  expect(entriesOf(urnIn("prod"))).toMatchObject([theirs]);

  await eraseStored(urnIn("staging"), new Set([first]));
  expect([first, "user-dataset-1"]).not.toContain(await create());
  expect(entriesOf(urnIn("prod"))).toMatchObject([theirs]);
});

test("an entry of a former name of the stack takes precedence over unproven entries", async () => {
  writeFileSync(join(directory, "Pulumi.yaml"), "name: shop\n");
  writeFileSync(join(directory, "Pulumi.staging.yaml"), "encryptionsalt: v1:abc\n");
  for (const stack of ["gone1", "gone2", "gone3", "gone4", "gone5"]) await write(entryOf(stack));
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  const lineage = lineageOf("staging") as string;
  await write(entryOf("formerly", { lineage, id: userDatasetId, reply: { userDatasetId } }));
  expect(await create(["staging"])).toBe(userDatasetId);
});

function fail(): never {
  throw new Error("it went through");
}
