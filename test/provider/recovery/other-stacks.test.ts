import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../client/clock";
import { readSettings } from "../../../client/settings";
import { digest } from "../../../client/state-directory";
import { routes } from "../../../contract";
import { createOnce } from "../../../provider/recovery/create-once";
import { entriesOf, eraseStored, type JournalEntry, write } from "../../../provider/recovery/journal";
import type { UnknownCreationError } from "../../../provider/recovery/unknown-creation";
import type { Context } from "../../../provider/run/context";
import { InitialState } from "../../../provider/run/initial-state";
import { Run } from "../../../provider/run/session";
import type { StateEntry } from "../../../provider/run/state-entry";
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

/** Stacks of the backend. */
interface Backend {
  /** Names of the stacks. Without it, they cannot be listed. */
  readonly stacks?: readonly string[];
  /** State entries of all stacks. */
  readonly entries?: readonly StateEntry[];
  /** Lineage of each stack, by name. */
  readonly lineages?: Readonly<Record<string, string>>;
  /** Lineage of staging. */
  readonly own?: string | undefined;
}

/** Creates in stack staging. */
const create = async (backend: Backend = {}) => {
  const { stacks, entries = [], lineages = {} } = backend;
  const settings = readSettings((key) => observed.config[`recommender:${key}`], {});
  const listed = stacks && new Set(stacks.map((stack) => `shop/${stack}`));
  const byStack = new Map(Object.entries(lineages).map(([stack, lineage]) => [`shop/${stack}`, lineage]));
  const run = new Run(
    {
      ...stackState(async () => entries),
      stacks: async () => listed,
      allStacks: async () => ({ entries, lineages: byStack, unread: [] }),
    },
    new AbortController().signal,
    new InitialState(async () => ({ pending: [], lineage: "own" in backend ? backend.own : "staging" })),
  );
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
  expect(asked.message).toMatch(/of stack prod \(it may be a former name of this stack\).*user-dataset-1/);
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
  for (const stack of ["gone1", "gone2", "gone3", "gone4", "gone5"]) await write(entryOf(stack));
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  await write(entryOf("formerly", { lineage: "staging", id: userDatasetId, reply: { userDatasetId } }));
  expect(await create({ stacks: ["staging"] })).toBe(userDatasetId);
});

test("a renamed stack waits for a process of its killed run that is still sending the call", async () => {
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  const alive = entryOf("formerly", { lineage: "staging", pid: process.ppid });
  await write(alive);
  setTimeout(() => write({ ...alive, id: userDatasetId, reply: { userDatasetId } }), 100);
  expect(await create({ stacks: ["staging"] })).toBe(userDatasetId);
});

describe("an entry under the name of this stack", () => {
  /** Creates an object as a stack that had the name staging, and records it like a killed run. */
  const made = async (more: Partial<JournalEntry> = {}) => {
    const { userDatasetId } = await observed.call(routes.createUserDataset, request);
    await write(entryOf("staging", { id: userDatasetId, reply: { userDatasetId }, ...more }));
    return userDatasetId;
  };

  test("is of the renamed stack with the same lineage, so it is neither adopted nor offered", async () => {
    const theirs = await made({ lineage: "first" });
    expect(await create({ lineages: { prod: "first" } })).not.toBe(theirs);
    expect(entriesOf(urnIn("staging"), "first")).toMatchObject([{ id: theirs }]);
  });

  test("asks if its stack is gone, and creating again answers for this stack only", async () => {
    const theirs = await made({ lineage: "first" });
    const asked: UnknownCreationError = await create().then(fail, (error) => error);
    expect(asked.message).toMatch(/of stack staging \(another stack may have had that name\)/);
    expect(asked.message).toContain(`RECOMMENDER_ADOPT=users=${theirs} pulumi up`);
    expect(asked.message).toContain("RECOMMENDER_CREATE_AGAIN=users pulumi up");
    expect(asked.placeholder).toBeUndefined();
    process.env.RECOMMENDER_CREATE_AGAIN = "users";
    const ours = await create();
    delete process.env.RECOMMENDER_CREATE_AGAIN;
    await eraseStored(urnIn("staging"), new Set([ours]), "staging");
    expect([ours, theirs]).not.toContain(await create());
    expect(entriesOf(urnIn("staging"), "first")).toMatchObject([{ id: theirs }]);
  });

  test.each([
    ["a version without lineages wrote it", undefined, "staging"],
    ["the state of this stack cannot be read", "staging", undefined],
  ])("asks if %s", async (_, lineage, own) => {
    const theirs = await made(lineage ? { lineage } : {});
    await expect(create({ own })).rejects.toThrow(`RECOMMENDER_ADOPT=users=${theirs} pulumi up`);
  });

  test("is of the stack whose state contains its object or its placeholder", async () => {
    const object = await made();
    const key = randomUUID();
    await write(entryOf("staging", { key, identity: digest("another"), id: "user-dataset-1" }));
    const held = (id: string) => ({ urn: urnIn("prod"), type: "UserDataset", id, made: "m" });
    const entries = [held(object), held(`unknown-${key}.${digest(request)}.1`)];
    expect(await create({ entries })).not.toBe(object);
  });

  test("is repeated with its key by the renamed stack that wrote it, although a new stack has the name", async () => {
    const key = randomUUID();
    await write(entryOf("formerly", { lineage: "staging", key }));
    const { userDatasetId } = await observed.client.call(routes.createUserDataset, request, {
      idempotencyKey: key,
    });
    const lineages = { staging: "staging", formerly: "second" };
    expect(await create({ stacks: ["staging", "formerly"], lineages })).toBe(userDatasetId);
  });

  test("is of the original if the state of this stack is a copy", async () => {
    await write(
      entryOf("formerly", {
        lineage: "staging",
        id: "user-dataset-1",
        reply: { userDatasetId: "user-dataset-1" },
      }),
    );
    const lineages = { staging: "staging", formerly: "staging" };
    expect(await create({ lineages })).not.toBe("user-dataset-1");
  });
});

describe("RECOMMENDER_ADOPT", () => {
  afterEach(() => {
    delete process.env.RECOMMENDER_ADOPT;
  });

  test.each([
    ["another stack", urnIn("prod"), "prod"],
    ["another resource of this stack", urnIn("staging").replace("::users", "::people"), "staging"],
  ])("is refused if %s holds the object, with the commands that work", async (_, holder, stack) => {
    const { userDatasetId } = await observed.call(routes.createUserDataset, request);
    await write(entryOf("staging"));
    process.env.RECOMMENDER_ADOPT = `users=${userDatasetId}`;
    const entries = [{ urn: holder, type: "UserDataset", id: userDatasetId, made: "m" }];
    const refused: Error = await create({ entries }).then(fail, (error) => error);
    expect(refused.message).toContain(`of stack ${stack} already uses it`);
    expect(refused.message).toContain("RECOMMENDER_CREATE_AGAIN=users pulumi up");
    expect(refused.message).toContain(`pulumi state delete '${holder}' --stack ${stack}`);
    await expect(create()).rejects.toMatchObject({ name: "AdoptionByUser", id: userDatasetId });
  });
});

function fail(): never {
  throw new Error("it went through");
}
