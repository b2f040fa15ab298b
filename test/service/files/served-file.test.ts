import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom, servable, type TrainedModel } from "../../../service/algorithms";
import { readModel, readServable, saveModel } from "../../../service/files/models";
import type { Files } from "../../../service/files/places/files";
import { openFiles } from "../../../service/files/places/open";
import { withoutUsers } from "../../../service/files/without-users";

let folder: string;
let files: Files;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "served-"));
  mkdirSync(join(folder, "models"));
  files = openFiles({ folder });
});
afterAll(() => rmSync(folder, { recursive: true }));

const stride = 8;
const items = 90_000;
/** Some without any, some that are read together, and one with more than are read at once. */
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
  "a model that is read part by part is the whole one as it is served, where %s is forgotten",
  async (_, who) => {
    await saveModel(files, "model", { model: made(), userIds, itemIds });
    const forgotten = new Set(who);
    const served = await readServable(files, "model", forgotten);
    const { model, ...ids } = withoutUsers(await readModel(files, "model"), forgotten);
    const { learned, ...expected } = servable(model);
    expect({ ...served, model: null }).toEqual({ ...ids, model: null });
    const { learned: read, ...rest } = served.model;
    expect(Object.keys(rest).sort()).toEqual(Object.keys(expected).sort());
    for (const name of ["userVectors", "itemVectors"] as const)
      expect(Buffer.from(rest[name].buffer).equals(Buffer.from(expected[name].buffer))).toBe(true);
    expect(rest.users).toBe(expected.users);
    expect([...read.stamps]).toEqual([...learned.stamps]);
    expect(Buffer.from(read.itemUsers.buffer).equals(Buffer.from(learned.itemUsers.buffer))).toBe(true);
    expect(read.every).toBe(learned.every);
    expect([...(read.pairs?.start ?? [])]).toEqual([...(learned.pairs?.start ?? [])]);
    expect(Buffer.from(read.pairs?.index ?? []).equals(Buffer.from(learned.pairs?.index ?? []))).toBe(true);
  },
);
