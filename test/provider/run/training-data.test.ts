import { routes } from "../../../contract";
import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider, unknownValue } from "../dynamic-provider";

let observed: ObservedService;
beforeAll(async () => {
  observed = await ObservedService.start();
});
afterAll(() => observed.close());

const unknowns = {
  userDatasetId: unknownValue,
  itemDatasetId: unknownValue,
  eventDatasetId: unknownValue,
};
const eventsOf = (...types: string[]) =>
  types.map((eventType, ts) => ({ userId: "u", itemId: "i", eventType, ts }));

describe("a preview of a training", () => {
  let provider: DynamicProvider;
  beforeEach(async () => {
    provider = await DynamicProvider.start(observed.config);
  });
  afterEach(() => provider.stop());

  const dataset = (more = {}) => provider.check("EventDataset", { name: "events", numShards: 1, ...more });
  const source = (from: unknown, eventDatasetId = unknownValue) =>
    provider.check("EventRecords", { eventDatasetId, source: from });
  const project = (targetEventType: string, more = {}) =>
    provider.check("Project", { name: "shop", ...unknowns, targetEventType, ...more });
  const training = async () => {
    const job = { name: "weekly", projectId: unknownValue, algorithmId: unknownValue };
    const { failures } = await provider.check("TrainingJob", job);
    const warnings = provider.messages.filter(({ severity }) => severity === "warning");
    return { failures, warnings: warnings.map(({ message }) => message) };
  };
  const nothing = { failures: [], warnings: [] };

  test("fails if no source has the target event type, and names the types and the likely typo", async () => {
    await dataset();
    await source(eventsOf("view", "purchase"));
    await project("purchse");
    const reason =
      'no source in the program has an event of type "purchse", the targetEventType of Project shop; ' +
      'the types found are "view" and "purchase". Did you mean "purchase"?';
    expect(await training()).toEqual({
      ...nothing,
      failures: [`there are no events to train on: ${reason}`],
    });
  });

  test("passes if one of several sources has it, also in a mapped column", async () => {
    await dataset();
    await source(eventsOf("view"));
    await provider.check("EventRecords", {
      ...{ __urn: "urn:pulumi:test::test::pulumi-nodejs:dynamic/recommender:EventRecords::more" },
      ...{ eventDatasetId: unknownValue, mapping: { eventType: "act" } },
      source: [{ userId: "u", itemId: "i", ts: 1, act: "purchase" }],
    });
    await project("purchase");
    expect(await training()).toEqual(nothing);
  });

  test("warns if the dataset exists and may contain other events", async () => {
    await source(eventsOf("view"), "event-dataset-1");
    await project("purchase", { eventDatasetId: "event-dataset-1" });
    const { failures, warnings } = await training();
    expect(failures).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The training fails unless the dataset already has events of the target type: no source .*"purchase"/,
      ),
    ]);
  });

  test("warns if a dataset is adopted", async () => {
    const { eventDatasetId: existingId } = await observed.call(routes.createEventDataset, {
      ...{ name: "events", numShards: 1 },
    });
    await dataset({ existingId });
    await source(eventsOf("view"));
    await project("purchase");
    expect(await training()).toMatchObject({
      failures: [],
      warnings: [expect.stringMatching(/^The training fails unless/)],
    });
  });

  test("reports nothing without a source, with an unknown source, and for an existing project", async () => {
    await dataset();
    await project("purchase");
    expect(await training()).toEqual(nothing);
    await source(unknownValue);
    expect(await training()).toEqual(nothing);
    await source(eventsOf("view"));
    const declared = { name: "shop", ...unknowns, targetEventType: "purchase" };
    await provider.check("Project", declared, declared);
    expect(await training()).toEqual(nothing);
  });
});
