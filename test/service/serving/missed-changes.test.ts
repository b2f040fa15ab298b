import { MissedChanges } from "../../../service/serving/missed-changes";

const dataset = (number: number) => ({ number, id: `dataset-${number}` }) as never;
const data = { items: dataset(1), events: dataset(2) };
const event = (seq: number) => ({
  ...{ seq, user_id: "u", item_id: "i", ts: 5, event_type: "view", event_value: 1 },
  attributes: "x".repeat(20_000),
});

test("events that a build missed are stored without attributes, and events of other datasets are not stored", () => {
  const missed = new MissedChanges(data);
  missed.add({ dataset: 2, deletions: 0, deleted: [], written: [event(1)] });
  missed.add({ dataset: 3, deletions: 0, deleted: [], written: [event(2)] });
  missed.add({ eventDatasetId: "dataset-2", forgotten: "u" });
  expect(missed.changes).toEqual([
    {
      ...{ dataset: 2, deletions: 0, deleted: [] },
      written: [{ seq: 1, user_id: "u", item_id: "i", ts: 5, event_type: "view", event_value: 1 }],
    },
    { eventDatasetId: "dataset-2", forgotten: "u" },
  ]);
});

test("a build ends if more is written meanwhile than the memory limit allows", () => {
  const missed = new MissedChanges(data, 10_000);
  let written = 0;
  for (; !missed.tooMany.aborted && written < 1000; written++)
    missed.add({ dataset: 2, deletions: 0, deleted: [], written: [event(written)] });
  expect(written).toBeLessThan(100);
  expect(missed.tooMany.reason.message).toContain("builds it again");
  missed.add({ dataset: 2, deletions: 0, deleted: [], written: [event(written)] });
  expect(missed.changes).toEqual([]);
});
