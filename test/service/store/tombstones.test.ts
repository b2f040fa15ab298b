import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataDirectoryAt, exportService, restoreService } from "../../../service";
import { readModel } from "../../../service/files/models";
import { removeForgotten } from "../../../service/files/remove-users";
import type { Files } from "../../../service/files/storage/files";
import { openFiles } from "../../../service/files/storage/open";
import { connect, type Db } from "../../../service/store/database";
import { forgetInEvents } from "../../../service/store/forget-user";
import { cleanUpTombstones, forgottenSince } from "../../../service/store/forgotten";
import { askDatabase } from "../database";
import { Running } from "../running";
import { closeShop, openShop, trainModel } from "../shop";

describe("the tombstones of forgotten users", () => {
  const directory = mkdtempSync(join(tmpdir(), "tombstones-"));
  const dataDir = join(directory, "data");
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let modelId: string;
  let db: Db;
  beforeAll(async () => {
    api = await Running.start({ dataDir });
    db = connect(api.options.store ?? dataDirectoryAt(dataDir).database, { writes: true });
  });
  beforeEach(async () => {
    shop = await openShop(api);
    modelId = await trainModel(api, shop);
  });
  afterEach(() => closeShop(api, shop));
  afterAll(async () => {
    await db.destroy();
    await api.end();
    rmSync(directory, { recursive: true });
  });

  /** Writes the tombstone of a user without changing model files. */
  const bury = (userId: string) =>
    db.transaction().execute(async (all) => {
      const dataset = { id: shop.eventDatasetId };
      const { number } = await all
        .selectFrom("datasets")
        .select("number")
        .where("id", "=", dataset.id)
        .executeTakeFirstOrThrow();
      await forgetInEvents(all, { ...dataset, number }, userId);
    });
  const isForgotten = async (userId: string, where = db) =>
    (await forgottenSince(where, shop.eventDatasetId, 0)).has(userId);
  const hashes = () => db.selectFrom("forgotten_users").select(["user_id", "hashed"]).execute();
  /** Returns the hash of earlier versions, whose key is public. */
  const publicHash = async (userId: string) => {
    const { body } = await api.raw("/healthz");
    return createHmac("sha256", body.instance_id).update(userId).digest("base64url");
  };

  test("cannot be guessed from public data of the service", async () => {
    await bury("u3");
    expect(await isForgotten("u3")).toBe(true);
    expect((await hashes()).map(({ user_id }) => user_id)).not.toContain(await publicHash("u3"));
  });

  test("of an earlier version are recognised, and hashed with the secret at the next start", async () => {
    await bury("u3");
    const user_id = await publicHash("u3");
    await db.updateTable("forgotten_users").set({ user_id, hashed: 1 }).execute();
    expect(await isForgotten("u3")).toBe(true);
    await db.transaction().execute(cleanUpTombstones);
    expect(await hashes()).toEqual([{ user_id: expect.not.stringMatching(user_id), hashed: 2 }]);
    expect([await isForgotten("u3"), await isForgotten("u4")]).toEqual([true, false]);
  });

  test("are recognised in a restored backup", async () => {
    await bury("u3");
    const place = { dataDir, ...(api.options.store !== undefined && { store: api.options.store }) };
    await exportService(place, join(directory, "backup"), () => undefined);
    const restored = join(directory, "restored");
    await restoreService({ dataDir: restored }, join(directory, "backup"), () => undefined);
    const there = connect(dataDirectoryAt(restored).database);
    expect([await isForgotten("u3", there), await isForgotten("u4", there)]).toEqual([true, false]);
    await there.destroy();
  });

  test("apply to a file that two processes rewrite, even if the first one has lost its lock", async () => {
    const { store } = api.options;
    const copies = join(directory, "copies");
    const files = openFiles(store === undefined ? { directory: dataDir } : { directory: copies, url: store });
    const first = connect(store ?? dataDirectoryAt(dataDir).database);
    await bury("u3");
    /** As the first process is about to write, the second one forgets another user and rewrites the file. */
    const second = async () => {
      await bury("u5");
      if (store !== undefined)
        await askDatabase(
          store,
          `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 2
           and database = (select oid from pg_database where datname = current_database())`,
        );
      const forgotten_until = (await removeForgotten(db, files, modelId)) as number;
      await db.updateTable("models").set({ forgotten_until }).where("id", "=", modelId).execute();
    };
    let isFirst = true;
    const slow: Files = Object.create(files, {
      write: {
        value: async (...written: Parameters<Files["write"]>) => {
          if (isFirst) {
            isFirst = false;
            await second();
          }
          return files.write(...written);
        },
      },
    });
    await removeForgotten(first, slow, modelId).catch(() => undefined);
    const { userIds } = await readModel(files, modelId, { refresh: true });
    expect(userIds).toContain("u4");
    expect(userIds).not.toContain("u3");
    expect(userIds).not.toContain("u5");
    await first.destroy();
    files.close();
  });
});
