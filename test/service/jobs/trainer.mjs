// A trainer by what docs/training.md and docs/model-format.md say: the most popular items, for everybody alike. What
// else it does, TRAINER_DOES says.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";

const rows = async (file) => parquetReadObjects({ file: await asyncBufferFromFile(file) });
const sha256 = (bytes) => createHash("sha256").update(bytes).digest();
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 63)]);

function texts(name, values) {
  const encoded = values.map((value) => Buffer.from(value));
  return {
    [`${name}_lengths`]: Uint32Array.from(encoded, ({ length }) => length),
    [`${name}_bytes`]: new Uint8Array(Buffer.concat(encoded)),
  };
}

function written(header, sections) {
  let offset = 0;
  const described = {};
  const bodies = Object.entries(sections).map(([name, values]) => {
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    const dtype = { Float32Array: "float32", Uint32Array: "uint32", Uint8Array: "uint8" }[
      values.constructor.name
    ];
    const shape = name.endsWith("_vectors") ? [values.length, 1] : [values.length];
    described[name] = { dtype, shape, offset, bytes: bytes.length, sha256: sha256(bytes).toString("hex") };
    const body = padded(bytes);
    offset += body.length;
    return body;
  });
  const text = Buffer.from(JSON.stringify({ ...header, sections: described }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([
    padded(Buffer.concat([Buffer.from("recmodel"), length, sha256(text), text])),
    ...bodies,
  ]);
}

async function train(does) {
  const { algorithm_parameters } = JSON.parse(readFileSync(process.env.RECOMMENDER_PARAMETERS, "utf8"));
  const users = await rows(process.env.RECOMMENDER_USERS);
  const items = await rows(process.env.RECOMMENDER_ITEMS);
  const pairs = await rows(process.env.RECOMMENDER_INTERACTIONS);
  pairs.sort((a, b) => a.user - b.user || a.item - b.item);
  const counts = new Float32Array(items.length);
  const starts = new Uint32Array(users.length + 1);
  for (const { user, item } of pairs) {
    counts[item] += 1 / users.length;
    starts[user + 1]++;
  }
  for (const user of users.keys()) starts[user + 1] += starts[user];
  if (does === "infinite") counts[0] = Number.POSITIVE_INFINITY;
  const ids = users.map(({ id }) => id);
  return written(
    {
      kind: "recommendation-model",
      version: 1,
      algorithm: "popular",
      parameters: {
        given: algorithm_parameters,
        key:
          process.env.RECOMMENDER_API_KEY ??
          process.env.PGPASSWORD ??
          process.env.AWS_SECRET_ACCESS_KEY ??
          null,
      },
      report: null,
      users: users.length,
      items: items.length,
      dimensions: 1,
      gram: "any",
      fold_in: { rule: "spark-als-implicit", alpha: 1, regularization: 0.1 },
      user_attributes: null,
      item_attributes: null,
    },
    {
      ...texts("user_id", does === "mixes" ? ids.reverse() : ids),
      ...texts(
        "item_id",
        items.map(({ id }) => id),
      ),
      user_vectors: new Float32Array(users.length).fill(1),
      item_vectors: counts,
      interaction_starts: starts,
      interaction_items: Uint32Array.from(pairs, ({ item }) => item),
      interaction_weights: Float32Array.from(pairs, ({ weight }) => weight),
    },
  );
}

const does = process.env.TRAINER_DOES;
console.log(`trainer begins and ${does}`);
if (does === "fails") {
  writeFileSync(process.env.RECOMMENDER_MODEL, "half a model");
  console.error("first line\nno cluster at spark://nowhere");
  process.exit(3);
}
if (does === "hangs") {
  const beside = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
  writeFileSync(process.env.TRAINER_PIDS, JSON.stringify([process.pid, beside.pid]));
  setInterval(() => {}, 1000);
} else if (does === "garbage") writeFileSync(process.env.RECOMMENDER_MODEL, "garbage ".repeat(100));
else if (does !== "nothing") writeFileSync(process.env.RECOMMENDER_MODEL, await train(does));
