import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setBinding } from "../../../provider/run/engine";
import { PendingOperations, readPending } from "../../../provider/run/pending-operations";

const directory = mkdtempSync(join(tmpdir(), "recommender-pending-"));
const program = join(directory, "pulumi");
beforeAll(() => setBinding({ connect: () => {}, engineAddress: () => "127.0.0.1:1", log: async () => {} }));
afterAll(() => {
  setBinding({ connect: () => {}, engineAddress: () => undefined, log: async () => {} });
  rmSync(directory, { recursive: true });
});

const urn = "urn:pulumi:dev::shop::recommender:index:UserRecords::people";
const root = { urn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", type: "pulumi:pulumi:Stack" };

/** Returns the pending operations of the resource, with a script instead of the Pulumi CLI. */
function pendingBy(script: string) {
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return new PendingOperations((of) => readPending(of, { program, timeoutMs: 60_000 })).of(urn);
}
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
  expect(await pendingBy(exporting({ resources: [root], pending_operations }))).toEqual([
    { urn, inputs, isCreate: true },
    { urn, inputs, isCreate: false },
  ]);
});
