import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setBinding } from "../../../provider/run/engine";
import { type Anchor, InitialState, readInitialFacts } from "../../../provider/run/initial-state";
import { journalId } from "../../../provider/run/journal-id";

const directory = mkdtempSync(join(tmpdir(), "recommender-pending-"));
const program = join(directory, "pulumi");
beforeAll(() => setBinding({ connect: () => {}, engineAddress: () => "127.0.0.1:1", log: async () => {} }));
afterAll(() => {
  setBinding({ connect: () => {}, engineAddress: () => undefined, log: async () => {} });
  rmSync(directory, { recursive: true });
});

/** Starts a new machine, without notes of earlier runs. */
beforeEach(() => {
  process.env.XDG_STATE_HOME = mkdtempSync(join(directory, "machine-"));
});

const urn = "urn:pulumi:dev::shop::recommender:index:UserRecords::people";
const root = {
  urn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
  ...{ type: "pulumi:pulumi:Stack", created: "2026-11-18T07:59:41.2907855Z" },
};

/** Initial state, with a script instead of the Pulumi CLI. */
function stateBy(script: string): InitialState {
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return new InitialState((of) => readInitialFacts(of, { program, timeoutMs: 60_000 }));
}
const pendingBy = (script: string) => stateBy(script).pendingOf(urn);
const exporting = (deployment: object) => `echo '${JSON.stringify({ deployment })}'`;

test.each([
  ["the export fails", "echo 'error: no credentials' >&2; exit 255"],
  ["the export is no JSON", "echo 'warning: a new version'"],
  [
    "the export shows a stack of another project",
    exporting({ resources: [{ ...root, urn: root.urn.replaceAll("shop", "mall") }] }),
  ],
])("the operations of killed runs are unknown if %s", async (_, script) => {
  expect(await pendingBy(script)).toBeUndefined();
});

test("a stack without resources has nothing pending", async () => {
  expect(await pendingBy(exporting({}))).toEqual([]);
});

test("pending creates and updates of the resource are found, and deletions and other resources are left out", async () => {
  const inputs = { contentHash: "a" };
  const pending_operations = [
    { type: "creating", resource: { urn, type: "", inputs } },
    { type: "updating", resource: { urn, type: "", inputs } },
    { type: "deleting", resource: { urn, type: "", inputs } },
    { type: "creating", resource: { urn: `${urn}-2`, type: "", inputs } },
  ];
  expect(await pendingBy(exporting({ resources: [root], pending_operations }))).toMatchObject([
    { urn, inputs, isCreate: true },
    { urn, inputs, isCreate: false },
  ]);
});

test("a pending operation of a renamed stack is found by the URN in the state, which has the old name", async () => {
  const renamed = { ...root, urn: root.urn.replaceAll("dev", "prod") };
  const pending = {
    type: "updating",
    resource: { urn: urn.replace(":dev:", ":prod:"), type: "", inputs: {} },
  };
  const state = stateBy(exporting({ resources: [renamed], pending_operations: [pending] }));
  await state.load({ urn: pending.resource.urn });
  expect(await state.pendingOf(urn)).toMatchObject([{ urn: pending.resource.urn, isCreate: false }]);
});

test("a stored resource of a renamed stack is found in its stack, not in a new stack with the old name", async () => {
  const [id, made] = ["user-dataset-1", "0a1b2c3d"];
  const stored = { urn: urn.replace(":dev:", ":prod:"), type: "recommender:index:UserRecords", id };
  const renamed = { urn: root.urn.replaceAll("dev", "prod"), type: root.type, created: "then" };
  const outputs = { __made: `${made} ${urn}` };
  const state = stateBy(`case "$*" in
    "stack ls "*) echo '[{"name":"dev"},{"name":"prod"}]' ;;
    *"--stack prod") ${exporting({ resources: [renamed, { ...stored, outputs }] })} ;;
    *) ${exporting({ resources: [root] })} ;;
  esac`);
  const anchor: Anchor = { urn, type: "UserRecords", id, made };
  expect(await state.lineage(anchor)).toBe("then");
});

test("the lineage of a stack is the creation time of its root resource", async () => {
  expect(await stateBy(exporting({ resources: [root] })).lineage({ urn })).toBe(root.created);
});

describe("a killed upload that one run has seen in the state", () => {
  const killed = {
    resources: [root],
    pending_operations: [{ type: "updating", resource: { urn, type: "", inputs: { contentHash: "a" } } }],
  };
  const operation = { urn, inputs: { contentHash: "a" }, isCreate: false };

  test("is still pending in the next run, after the engine has dropped its note", async () => {
    await stateBy(exporting(killed)).load({ urn: root.urn });
    expect(await pendingBy(exporting({ resources: [root] }))).toEqual([operation]);
  });

  test("is pending once while the engine has its note too", async () => {
    await stateBy(exporting(killed)).load({ urn: root.urn });
    expect(await pendingBy(exporting(killed))).toEqual([operation]);
  });

  test("is not pending after a later upload, for another resource, or for another stack of the same name", async () => {
    const now = stateBy(exporting(killed));
    expect(await now.pendingOf(`${urn}-2`)).toEqual([]);
    const recreated = { ...root, created: "later" };
    expect(await pendingBy(exporting({ resources: [recreated] }))).toEqual([]);
    await now.forgetPending(urn);
    expect(await pendingBy(exporting({ resources: [root] }))).toEqual([]);
  });

  test("is still pending after a rename of the stack", async () => {
    await stateBy(exporting(killed)).load({ urn: root.urn });
    const renamed = { ...root, urn: root.urn.replaceAll("dev", "prod") };
    const state = stateBy(exporting({ resources: [renamed] }));
    expect(await state.pendingOf(urn.replace(":dev:", ":prod:"))).toHaveLength(1);
  });
});

describe("a killed create", () => {
  const dataset = "urn:pulumi:dev::shop::recommender:index:UserDataset::users";
  const provider = "urn:pulumi:dev::shop::pulumi:providers:recommender::default::5a0f";
  const noteBy = (__journal: string | undefined, more: object = {}) => ({
    type: "creating",
    resource: {
      ...{ urn: dataset, type: "", provider },
      inputs: { name: "users", numShards: 1, ...(__journal && { __journal }), ...more },
    },
  });
  const stored = (outputs: object = {}) => ({
    ...{ urn: dataset, type: "recommender:index:UserDataset", id: "user-dataset-1", outputs },
  });
  const stateWith = (notes: readonly object[], ...resources: object[]) =>
    stateBy(exporting({ resources: [root, ...resources], pending_operations: notes }));
  const killedIn = (state: InitialState, isCreate = true) => state.killedElsewhere(dataset, isCreate);

  test("of another machine is found, and one of this machine is not, because its journal knows more", async () => {
    expect(await killedIn(stateWith([noteBy("other"), noteBy(journalId())]))).toMatchObject([
      { inputs: { __journal: "other" } },
    ]);
    expect(await killedIn(stateWith([noteBy("other")]), false)).toEqual([]);
  });

  test("that has only adopted an object is not found", async () => {
    expect(await killedIn(stateWith([noteBy("other", { existingId: "user-dataset-1" })]))).toEqual([]);
  });

  test("that replaces a stored resource is found", async () => {
    expect(await killedIn(stateWith([noteBy("other")], stored()))).toHaveLength(1);
  });

  test("is settled on every machine if the state entry of the resource supersedes it", async () => {
    const state = stateWith([noteBy("other")]);
    const __superseded = await state.settleCreates(dataset);
    process.env.XDG_STATE_HOME = mkdtempSync(join(directory, "machine-"));
    expect(await killedIn(stateWith([noteBy("other")], stored({ __superseded })))).toEqual([]);
    // After the resource was deleted, only this machine remembers.
    expect(await killedIn(stateWith([noteBy("other")]))).toEqual([]);
    expect(await killedIn(stateWith([noteBy("other"), noteBy("other")]))).not.toEqual([]);
    process.env.XDG_STATE_HOME = mkdtempSync(join(directory, "machine-"));
    expect(await killedIn(stateWith([noteBy("other")]))).toHaveLength(1);
  });

  test("is settled on this machine after the resource was created, even if the stack is destroyed", async () => {
    await stateWith([noteBy("other")]).settleCreates(dataset);
    expect(await killedIn(stateBy(exporting({ pending_operations: [noteBy("other")] })))).toEqual([]);
    const recreated = noteBy("other");
    recreated.resource.provider = `${provider}-2`;
    expect(await killedIn(stateWith([recreated]))).toHaveLength(1);
  });

  test("of an earlier version is settled if the resource is in the state", async () => {
    expect(await killedIn(stateWith([noteBy(undefined)], stored()))).toEqual([]);
    expect(await killedIn(stateWith([noteBy(undefined)]))).toEqual([]);
    process.env.XDG_STATE_HOME = mkdtempSync(join(directory, "machine-"));
    expect(await killedIn(stateWith([noteBy(undefined)]))).toHaveLength(1);
  });
});
