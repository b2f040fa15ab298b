import { startService } from "../../service";
import { askDatabase, newDatabase } from "./database";
import { Caller } from "./running";
import { openShop } from "./shop";

test("does not log the row that PostgreSQL quotes in an error", async () => {
  const database = await newDatabase();
  let said = "";
  const log = {
    write: (line: string) => {
      said += line;
    },
  };
  const api = await startService({ log, store: database.url, key: "rk_the-key-of-the-errors" });
  const caller = new Caller(api);
  const { eventDatasetId } = await openShop(caller);
  // The error of a violated constraint quotes the row.
  await askDatabase(
    database.url,
    "alter table events add constraint no_purchase check (event_type <> 'refund')",
  );
  const event = { eventId: "e", userId: "a-user-id", itemId: "i", ts: 1, eventType: "refund" };
  const upserted = caller.call("upsertDatasetEvents", { eventDatasetId, events: [event] });
  await expect(upserted).rejects.toMatchObject({ status: 500 });
  expect(said).toContain("no_purchase");
  expect(said).not.toContain("a-user-id");
  await caller.close();
  await api.close();
  await database.drop();
});
