import { buffer } from "node:stream/consumers";
import { createRandom } from "../../../service/algorithms";
import { modelName } from "../../../service/files/storage/files";
import { openFiles } from "../../../service/files/storage/open";
import { Running } from "../running";
import { openShop, shopRecords, trainModel } from "../shop";

/** Values whose floating-point sum depends on their order. */
const values = [1e-7, 0.1, 3, 0.7, 1e4];

function shuffled<T>(things: readonly T[], seed: number): T[] {
  const random = createRandom(seed);
  return things
    .map((thing) => ({ thing, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ thing }) => thing);
}

/** Uploads the records of the shop in a different order, and returns the bytes of the trained model. */
async function trained(api: Running, seed: number): Promise<Buffer> {
  const { users, items, events } = shopRecords();
  const valued = [...events, ...events.map((event) => ({ ...event, eventId: `again-${event.eventId}` }))];
  const shop = await openShop(api, {
    // Some have events but no record.
    users: shuffled(users.slice(5), seed),
    items: shuffled(items.slice(5), seed),
    events: shuffled(
      valued.map((event, at) => ({ ...event, eventValue: values[at % values.length] as number })),
      seed,
    ),
  });
  const { projectId } = shop;
  const { algorithmId } = await api.call("createAlgorithm", { projectId, name: "search" });
  const modelId = await trainModel(api, { projectId, algorithmId });
  const { store: url } = api.options;
  const directory = api.service.dataDir;
  const files = openFiles(url === undefined ? { directory } : { directory, url });
  const file = await files.open(modelName(modelId));
  files.close();
  return buffer(file?.createReadStream() as NodeJS.ReadableStream);
}

test("the same data gives the same model, byte for byte, in any order and in SQLite or PostgreSQL", async () => {
  const [here, directory] = [await Running.start(), await Running.start({}, "directory")];
  try {
    const first = await trained(here, 1);
    expect((await trained(here, 2)).equals(first)).toBe(true);
    expect((await trained(directory, 3)).equals(first)).toBe(true);
  } finally {
    await Promise.all([here.end(), directory.end()]);
  }
});
