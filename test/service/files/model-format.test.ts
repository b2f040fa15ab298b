import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type NeighbourRule, trainG1 } from "../../../service/algorithms";
import { JobError } from "../../../service/base/job-error";
import { encodeModel, type StoredModel } from "../../../service/files/format/model";
import { readModel, saveModel } from "../../../service/files/models";
import type { Files } from "../../../service/files/storage/files";
import { openFiles } from "../../../service/files/storage/open";
import { createWorld } from "../algorithms/world";

let directory: string;
let files: Files;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "format-"));
  mkdirSync(join(directory, "models"));
  files = openFiles({ directory });
});
afterAll(() => rmSync(directory, { recursive: true }));

const fileOf = (name: string) => join(directory, "models", name);
const read = (bytes: Uint8Array) => {
  writeFileSync(fileOf("read"), bytes);
  return readModel(files, "read");
};

/** A small model with neighbours, attributes of both kinds, and ids that are not ASCII. */
function trained(): StoredModel {
  const { interactions } = createWorld({ users: 60, items: 40 });
  const records = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ genre: ["ä", "b", "c"][at % 3], age: at % 7 }));
  const table = (count: number) => ({ schema: null, records: records(count) });
  const model = trainG1(
    { interactions, userAttributes: table(60), itemAttributes: table(40) },
    { dimensions: 12, epochs: 2, alpha: 0.2, regularization: 0.1, neighbours: 1 },
  );
  const ids = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);
  return { model, userIds: ids(60, "ü🎷"), itemIds: ids(40, "i") };
}

describe("a model file", () => {
  const stored = trained();
  const bytes = Buffer.concat([...encodeModel(stored)]);
  const headerLength = Number(bytes.readBigUInt64LE(8));
  const header = JSON.parse(bytes.toString("utf8", 48, 48 + headerLength));
  const begin = Math.ceil((48 + headerLength) / 64) * 64;

  /** Returns the file with a different header and a matching hash. */
  const withHeader = (changed: unknown) => {
    const text = Buffer.from(typeof changed === "string" ? changed : JSON.stringify(changed));
    const preamble = Buffer.from(bytes.subarray(0, 48));
    preamble.writeBigUInt64LE(BigInt(text.length), 8);
    createHash("sha256").update(text).digest().copy(preamble, 16);
    const padding = Buffer.alloc((64 - ((48 + text.length) % 64)) % 64);
    return Buffer.concat([preamble, text, padding, bytes.subarray(begin)]);
  };
  /** Returns the file with different numbers in a section and a matching hash. */
  const withSection = (name: string, change: (values: Buffer) => void) => {
    const section = header.sections[name];
    const whole = Buffer.from(bytes);
    const values = whole.subarray(begin + section.offset, begin + section.offset + section.bytes);
    change(values);
    const sha256 = createHash("sha256").update(values).digest("hex");
    const changed = withHeader({
      ...header,
      sections: { ...header.sections, [name]: { ...section, sha256 } },
    });
    return Buffer.concat([
      changed.subarray(0, changed.length - (bytes.length - begin)),
      whole.subarray(begin),
    ]);
  };
  const refused = async (content: Uint8Array) => {
    const error = await read(content).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(JobError);
    const { message } = error as Error;
    expect(message).toMatch(
      /^Cannot use the file models\/read in .*: it .* (Restore it from a backup, or train |Update )/s,
    );
    return message;
  };

  test("contains the model that was written, even if the disk was full at first", async () => {
    const reasons: string[] = [];
    const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    jest.spyOn(files, "write").mockRejectedValueOnce(full);
    await saveModel(files, "model-1", stored, (reason) => reasons.push(reason));
    expect(reasons).toEqual(["no space left on device"]);
    expect(readFileSync(fileOf("model-1")).equals(bytes)).toBe(true);
    const back = await readModel(files, "model-1");
    expect(back.userIds).toEqual(stored.userIds);
    expect(back.itemIds).toEqual(stored.itemIds);
    expect(back.model).toEqual(stored.model);
  });

  test("has the format that docs/model-format.md describes", () => {
    expect(bytes.toString("latin1", 0, 8)).toBe("recmodel");
    expect(header).toMatchObject({
      kind: "recommendation-model",
      version: 2,
      algorithm: "G1",
      gram: "diagonal",
    });
    const page = readFileSync(join(__dirname, "../../../docs/model-format.md"), "utf8");
    for (const name of [...Object.keys(header), ...Object.keys(header.fold_in)])
      expect(page).toContain(`\`${name}\``);
    for (const name of Object.keys(header.sections))
      expect(page).toContain(`\`${name.replace(/^(user|item)_/, "X_")}\``);
    for (const section of Object.values<{ offset: number }>(header.sections))
      expect(section.offset % 64).toBe(0);
  });

  test("without neighbours can be read by releases that do not know neighbours", async () => {
    const without = { ...stored, model: { ...stored.model, neighbours: null } };
    const written = Buffer.concat([...encodeModel(without)]);
    expect(JSON.parse(written.toString("utf8", 48, 48 + Number(written.readBigUInt64LE(8)))).version).toBe(1);
    expect((await read(written)).model).toEqual(without.model);
    // Those releases ignore unknown sections.
    expect((await read(withHeader({ ...header, version: 1 }))).model.neighbours).toBeNull();
  });

  test("with events of other types is rejected by releases that would ignore them", async () => {
    const eventRule = { weights: { view: 0.3 }, recommendSeen: false };
    const counted = { ...stored, model: { ...stored.model, eventRule } };
    const written = Buffer.concat([...encodeModel(counted)]);
    expect(JSON.parse(written.toString("utf8", 48, 48 + Number(written.readBigUInt64LE(8)))).version).toBe(3);
    expect((await read(written)).model).toEqual(counted.model);
  });

  test("with exposure rules is rejected by releases that would ignore them", async () => {
    const exposure = { diversity: 0.5, popularityPenalty: 0.25 };
    const choosing = { ...stored, model: { ...stored.model, exposure } };
    const written = Buffer.concat([...encodeModel(choosing)]);
    const own = JSON.parse(written.toString("utf8", 48, 48 + Number(written.readBigUInt64LE(8))));
    expect(own).toMatchObject({ version: 4, exposure: { diversity: 0.5, popularity_penalty: 0.25 } });
    expect((await read(written)).model).toEqual(choosing.model);
    expect((await read(withHeader({ ...own, version: 3 }))).model).not.toHaveProperty("exposure");
    expect(
      await refused(withHeader({ ...own, exposure: { diversity: 2, popularity_penalty: 0 } })),
    ).toContain("exposure");
  });

  test("with a similarity exponent is rejected by releases that would ignore it", async () => {
    const neighbours = { ...(stored.model.neighbours as NeighbourRule), similarityExponent: 1.5 };
    const written = Buffer.concat([...encodeModel({ ...stored, model: { ...stored.model, neighbours } })]);
    const own = JSON.parse(written.toString("utf8", 48, 48 + Number(written.readBigUInt64LE(8))));
    expect(own).toMatchObject({ version: 5, neighbours: { similarity_exponent: 1.5 } });
    expect((await read(written)).model.neighbours).toEqual(neighbours);
    // A file of version 2 that has the field anyway was written for a reader that ignores it.
    expect((await read(withHeader({ ...own, version: 2 }))).model.neighbours).toEqual(
      stored.model.neighbours,
    );
    expect(
      await refused(withHeader({ ...own, neighbours: { ...own.neighbours, similarity_exponent: 0.5 } })),
    ).toContain("neighbours");
  });

  test("that is truncated anywhere is rejected", async () => {
    for (const length of [0, 1, 47, 48, 100, begin - 1, begin, begin + 1, bytes.length >> 1])
      await refused(bytes.subarray(0, length));
  });

  test("with an altered byte is rejected, unless the byte is padding", async () => {
    const used = (at: number) =>
      at < 48 + headerLength ||
      Object.values<{ offset: number; bytes: number }>(header.sections).some(
        (one) => at >= begin + one.offset && at < begin + one.offset + one.bytes,
      );
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1).filter(used),
        fc.integer({ min: 1, max: 255 }),
        async (at, by) => {
          const altered = Buffer.from(bytes);
          altered[at] = (altered[at] as number) ^ by;
          await refused(altered);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("with an altered header is rejected, even if the header is still valid", async () => {
    const altered = Buffer.from(bytes);
    altered.write('"algorithm":"G2"', altered.indexOf('"algorithm":"G1"'));
    expect(await refused(altered)).toContain("has an altered header");
  });

  test("that claims more numbers than it contains is rejected before memory is allocated", async () => {
    const users = 3_000_000_000;
    const vectors = { ...header.sections.user_vectors, shape: [users, 16], bytes: users * 64 };
    const sections = { ...header.sections, user_vectors: vectors };
    expect(await refused(withHeader({ ...header, users, sections }))).toContain(
      "before its section user_vectors",
    );
  });

  test.each([
    ["no JSON", "{", "not a JSON object"],
    ["null", "null", "not a JSON object"],
    ["another kind", { ...header, kind: "other" }, 'kind "other"'],
    ["an empty object", {}, "sections: "],
    ["a newer version", { ...header, version: 6 }, "Update pulumi-recommender"],
    ["no version", { ...header, version: "1" }, "without a known version"],
    ["users without end", { ...header, users: 2 ** 53 }, "users"],
    [
      "more users than ids",
      { ...header, users: 4_000_000_000 },
      "section user_vectors of type float32 [60, 16]",
    ],
    ["a negative number of items", { ...header, items: -1 }, "items"],
    ["a rule that is not known", { ...header, fold_in: { rule: "other" } }, "fold_in"],
    ["no sections", { ...header, sections: undefined }, "sections"],
    [
      "a section less",
      { ...header, sections: { ...header.sections, item_vectors: undefined } },
      "no section item_vectors",
    ],
    ["sections that only every object has", { ...header, sections: {} }, "has no section"],
  ])("with %s in its header is rejected", async (_, changed, message) => {
    expect(await refused(withHeader(changed))).toContain(message);
  });

  test.each([
    ["beyond the end", { offset: 2 ** 40 }, "is cut off"],
    ["not aligned", { offset: 4 }, "whose offset is not a multiple of 64"],
    ["of another length", { bytes: 4 }, "does not fit its shape"],
    ["huge, and so many bytes", { shape: [60, 2 ** 31], bytes: 60 * 2 ** 33 }, "[60, 2147483648] instead"],
    ["of another kind", { dtype: "uint32" }, "of type uint32 [60, 16] instead of float32"],
    ["of an unknown kind", { dtype: "float64" }, "dtype"],
  ])("with a section that is %s is rejected", async (_, change, message) => {
    const sections = { ...header.sections, user_vectors: { ...header.sections.user_vectors, ...change } };
    expect(await refused(withHeader({ ...header, sections }))).toContain(message);
  });

  test.each([
    ["interaction_items", (values: Buffer) => values.writeUInt32LE(40), "items beyond the last item"],
    ["interaction_items", (values: Buffer) => values.fill(0), "do not ascend within a user"],
    ["interaction_starts", (values: Buffer) => values.writeUInt32LE(4_000_000_000, 4), "do not ascend"],
    ["interaction_starts", (values: Buffer) => values.writeUInt32LE(1), "do not start at 0"],
    ["interaction_weights", (values: Buffer) => values.writeFloatLE(-1), "not positive finite"],
    ["user_vectors", (values: Buffer) => values.writeFloatLE(Number.NaN), "not finite"],
    ["user_id_lengths", (values: Buffer) => values.writeUInt32LE(4_000_000_000), "the lengths sum to"],
    ["user_id_bytes", (values: Buffer) => values.fill(0xff), "is not UTF-8"],
    ["item_id_bytes", (values: Buffer) => values.fill("i"), "contains the same item_id twice"],
  ])("with impossible %s is rejected", async (name, change, message) => {
    expect(await refused(withSection(name, change))).toContain(message);
  });

  test("of a different kind is rejected", async () => {
    expect(await refused(Buffer.alloc(1000, "x"))).toContain("is not a model");
    expect(await refused(Buffer.from([0xff, 0x0f, 0x6f]))).toContain("version 0.1.0");
  });
});

/** `npm run test:files [MEGABYTES]` writes a model that is too large for a single read of Node. */
const megabytes = Number(process.env.MODEL_MEGABYTES ?? 20);

test(`a model of ${megabytes} MB is written and read`, async () => {
  const stride = 512;
  const users = Math.ceil((megabytes * 1024 * 1024) / (4 * stride));
  const { model, itemIds } = trained();
  const start = new Uint32Array(users + 1).fill(1);
  start[0] = 0;
  const userVectors = new Float32Array(users * stride);
  userVectors[userVectors.length - 1] = 0.5;
  const { items } = model;
  const large: StoredModel = {
    model: {
      ...model,
      stride,
      users,
      userVectors,
      itemVectors: new Float32Array(items * stride),
      interactions: { users, items, start, index: Uint32Array.of(3), weight: Float32Array.of(2) },
      userAttributes: null,
      itemAttributes: null,
    },
    userIds: Array.from({ length: users }, (_, at) => `u${at}`),
    itemIds,
  };
  await saveModel(files, "large", large, () => {});
  const back = await readModel(files, "large");
  expect(back.model.userVectors.length).toBe(users * stride);
  expect([back.model.userVectors.at(-1), back.userIds.at(-1)]).toEqual([0.5, `u${users - 1}`]);
  rmSync(fileOf("large"));
});
