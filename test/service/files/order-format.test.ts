import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { itemCounts, selectUsers, servable, stepsOf, trainG1 } from "../../../service/algorithms";
import { transitionsOf, withoutEmpty } from "../../../service/algorithms/order/transitions";
import { encodeModel, type StoredModel } from "../../../service/files/format/model";
import { readModel, readRow, readServable, saveModel } from "../../../service/files/models";
import type { Files } from "../../../service/files/storage/files";
import { openFiles } from "../../../service/files/storage/open";
import { withoutUsers } from "../../../service/files/without-users";
import { chainItems, createChain } from "../algorithms/chain";

const chain = createChain();
const given = { dimensions: 8, regularization: 0.05, alpha: 0.1, epochs: 3, neighbours: 0 } as const;
const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);
const stored: StoredModel = {
  model: trainG1({ interactions: chain }, given),
  userIds: ids("u", chain.users),
  itemIds: ids("i", chainItems),
};

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();

let directory: string;
let files: Files;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "order-format-"));
  mkdirSync(join(directory, "models"));
  files = openFiles({ directory });
  await saveModel(files, "model-1", stored, () => {});
});
afterAll(() => rmSync(directory, { recursive: true }));

const orderOf = ({ model }: Pick<StoredModel, "model">) => model.order as NonNullable<typeof model.order>;
const versionOf = (bytes: Uint8Array) => {
  const buffer = Buffer.from(bytes);
  return JSON.parse(buffer.toString("utf8", 48, 48 + Number(buffer.readBigUInt64LE(8)))).version;
};

test("a file with the order of events has version 5, and contains the rule, the table and the times", async () => {
  expect(versionOf(readFileSync(join(directory, "models", "model-1")))).toBe(5);
  const read = await readModel(files, "model-1");
  expect(read.model.order).toEqual(stored.model.order);
  const { rule } = orderOf(stored);
  expect(stepsOf(read.model.interactions, rule)).toEqual(stepsOf(chain, rule));
  expect(Buffer.concat([...encodeModel(read)])).toEqual(Buffer.concat([...encodeModel(stored)]));
});

test("a served model has the same sequences as the trained model, and reads the times of one user", async () => {
  const nobody = { size: 0, has: () => false } as never;
  const { model } = await readServable(files, { modelId: "model-1", version: 0 }, nobody);
  expect(model.learned.sequences).toEqual(servable(stored.model).learned.sequences);
  const row = await readRow(files, { modelId: "model-1", version: 0 }, 7);
  const [from, to] = [chain.start[7], chain.start[8]];
  expect(row?.items).toEqual([...chain.index.subarray(from, to)]);
  expect(row?.steps).toEqual([...stepsOf(chain, orderOf(stored).rule).subarray(from, to)]);
});

test("without forgotten users, the table is the same as if they had never existed", async () => {
  const forgotten = new Set(ids("u", 100));
  const others = selectUsers(
    chain,
    Uint32Array.from({ length: chain.users - 100 }, (_, at) => at + 100),
  );
  const { rule } = orderOf(stored);
  const sorted = ({ start, index, amount }: ReturnType<typeof withoutEmpty>) =>
    Array.from({ length: chainItems }, (_, item) =>
      Array.from(index.subarray(start[item], start[item + 1]), (other, at) => [
        other,
        amount[(start[item] as number) + at],
      ]).sort(([a = 0], [b = 0]) => a - b),
    );
  const expected = sorted(transitionsOf(others, stepsOf(others, rule), rule));
  const rewritten = withoutUsers(stored, forgotten as never);
  writeFileSync(join(directory, "models", "model-2"), Buffer.concat([...encodeModel(rewritten)]));
  const read = await readModel(files, "model-2");
  expect(sorted(orderOf(read).table)).toEqual(expected);
  expect(read.model.interactions.index.length).toBe(others.index.length);
  const served = await readServable(files, { modelId: "model-1", version: 0 }, forgotten as never);
  expect(sorted(withoutEmpty(orderOf(served as never).table))).toEqual(expected);
  expect([...served.model.learned.itemUsers]).toEqual([...itemCounts(others)]);
});

test.each([
  ["order_starts", 1, 0xfffffff0, "order_starts that do not ascend"],
  ["order_items", 0, chainItems, "order_items beyond the last item"],
])("a file whose %s are wrong is refused", async (name, at, value, message) => {
  const { start, index } = orderOf(stored).table;
  const { buffer, byteOffset, byteLength } = name === "order_starts" ? start : index;
  const section = Buffer.from(buffer, byteOffset, byteLength);
  const changed = Buffer.from(section);
  changed.writeUInt32LE(value, 4 * at);
  const bytes = Buffer.concat([...encodeModel(stored)]);
  changed.copy(bytes, bytes.indexOf(section));
  bytes.write(sha256(changed).toString("hex"), bytes.indexOf(sha256(section).toString("hex")));
  sha256(bytes.subarray(48, 48 + Number(bytes.readBigUInt64LE(8)))).copy(bytes, 16);
  writeFileSync(join(directory, "models", "model-3"), bytes);
  await expect(readModel(files, "model-3")).rejects.toThrow(message);
});
