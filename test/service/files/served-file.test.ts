import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom, servable, type TrainedModel } from "../../../service/algorithms";
import { encodeModel, type StoredModel } from "../../../service/files/format/model";
import { readModel, readRow, readServable } from "../../../service/files/models";
import type { Files } from "../../../service/files/storage/files";
import { openFiles } from "../../../service/files/storage/open";
import { withoutUsers } from "../../../service/files/without-users";

let directory: string;
let files: Files;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "served-"));
  mkdirSync(join(directory, "models"));
  files = openFiles({ directory });
});
afterAll(() => rmSync(directory, { recursive: true }));

const stride = 8;
const items = 90_000;
/** Pairs per user: none, few that are read together, and more than are read at once. */
const lengths = [0, 3, 0, 40_000, 30_000, 5, 80_000, 1, 0, 64, 0];

/** A model whose pairs are not all in memory at once. */
function made(): TrainedModel {
  const random = createRandom(7);
  const vectors = (count: number) => Float32Array.from({ length: count * stride }, () => random.next() - 0.5);
  const start = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, user) => {
    start[user + 1] = (start[user] as number) + length;
  });
  const rows = lengths.map((length) => Array.from({ length }, (_, at) => Math.floor((at * items) / length)));
  const index = Uint32Array.from(rows.flat());
  return {
    ...{ algorithm: "G1", parameters: {}, report: null, stride, users: lengths.length, items },
    ...{ userVectors: vectors(lengths.length), itemVectors: vectors(items) },
    interactions: {
      ...{ users: lengths.length, items, start, index },
      weight: Float32Array.from(index, () => random.next() + 0.5),
    },
    foldIn: { rule: "spark-als-implicit", alpha: 1, regularization: 0.1 },
    neighbours: { scale: 1, damping: 0.5, itemExponent: 1, userExponent: 1, popularityExponent: 0.5 },
    ...{ userAttributes: null, itemAttributes: null, ranking: null },
  };
}

/** Returns a model file whose header describes its Gram matrix like this. */
function asOf(gram: string, stored: StoredModel): Uint8Array {
  const bytes = Buffer.concat([...encodeModel(stored)]);
  const length = Number(bytes.readBigUInt64LE(8));
  const header = JSON.parse(bytes.toString("utf8", 48, 48 + length));
  const text = Buffer.from(JSON.stringify({ ...header, gram }));
  const preamble = Buffer.from(bytes.subarray(0, 48));
  preamble.writeBigUInt64LE(BigInt(text.length), 8);
  createHash("sha256").update(text).digest().copy(preamble, 16);
  const aligned = (end: number) => Math.ceil(end / 64) * 64;
  const padding = Buffer.alloc(aligned(48 + text.length) - 48 - text.length);
  return Buffer.concat([preamble, text, padding, bytes.subarray(aligned(48 + length))]);
}

const userIds = lengths.map((_, user) => `u${user}`);
const itemIds = Array.from({ length: items }, (_, item) => `i${item}`);

test.each([
  ["nobody", []],
  ["somebody without pairs", ["u2"]],
  ["those at the ends", ["u0", "u1", "u10"]],
  ["the one with the most", ["u6"]],
  ["all but one", userIds.filter((id) => id !== "u4")],
  ["everybody", userIds],
  ["somebody whom the model does not know", ["stranger"]],
])(
  "a model that is read in parts equals the complete one without forgotten users, if %s is forgotten",
  async (_, who) => {
    await files.write("models/model", [asOf("any", { model: made(), userIds, itemIds })]);
    const forgotten = new Set(who);
    const served = await readServable(files, { modelId: "model", version: 0 }, forgotten);
    const { model, ...ids } = withoutUsers(await readModel(files, "model"), forgotten);
    const { learned, ...expected } = servable(model);
    expect({ ...served, model: null }).toEqual({ ...ids, model: null });
    const { learned: read, ...rest } = served.model;
    expect(Object.keys(rest).sort()).toEqual(Object.keys(expected).sort());
    expect(rest.users).toBe(expected.users);
    const same = (one?: Numbers, other?: Numbers) =>
      expect(one && bytesOf(one).equals(bytesOf(other as Numbers))).toBe(true);
    for (const name of ["userVectors", "itemVectors"] as const) same(rest[name], expected[name]);
    for (const name of ["stamps", "itemUsers"] as const) same(read[name], learned[name]);
    for (const name of ["start", "index"] as const) same(read.pairs?.[name], learned.pairs?.[name]);
    expect(read.every).toBe(learned.every);
  },
);

type Numbers = Float32Array | Float64Array | Uint32Array;
const bytesOf = ({ buffer, byteOffset, byteLength }: Numbers) => Buffer.from(buffer, byteOffset, byteLength);

test("a row of a file that was damaged meanwhile is rejected before memory is allocated", async () => {
  const bytes = Buffer.from(asOf("diagonal", { model: made(), userIds, itemIds }));
  const length = Number(bytes.readBigUInt64LE(8));
  const { sections } = JSON.parse(bytes.toString("utf8", 48, 48 + length));
  const begin = Math.ceil((48 + length) / 64) * 64;
  bytes.writeUInt32LE(2 ** 32 - 1, begin + sections.interaction_starts.offset + 4 * 4);
  await files.write("models/damaged", [bytes]);
  await expect(readRow(files, { modelId: "damaged", version: 0 }, 3)).rejects.toThrow(
    /^has a section interaction_items that does not cover the range 3 to 4294967295$/,
  );
  await expect(readRow(files, { modelId: "damaged", version: 0 }, 4)).rejects.toThrow(
    /does not cover the range 4294967295 to 70003/,
  );
});
