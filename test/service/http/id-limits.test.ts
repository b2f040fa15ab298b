import { limits } from "../../../contract";
import { Running } from "../running";
import { openShop } from "../shop";

const long = "x".repeat(limits.idCharacters + 1);

let api: Running;
let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  api = await Running.start();
  shop = await openShop(api);
});
afterAll(() => api.end());

/** Makes a call and returns the details of its error. */
const faultsOf = (call: Promise<unknown>) =>
  call.then(
    () => [],
    ({ status, error }) => [status, error.details],
  );

test("a user id that is too long is rejected with the name of its field", async () => {
  const tooLong = [400, [{ path: "user_id", message: "expected at most 256 characters" }]];
  expect(await faultsOf(api.call("recommendItemsToUser", { userId: long }))).toEqual(tooLong);
  const { eventDatasetId } = shop;
  expect(await faultsOf(api.call("deleteDatasetUserEvents", { eventDatasetId, userId: long }))).toEqual(
    tooLong,
  );
});

test("every other id that is too long is rejected too", async () => {
  const { eventDatasetId, projectId } = shop;
  const refusals = await Promise.all([
    faultsOf(api.call("deleteDatasetUserEvents", { eventDatasetId: long, userId: "u" })),
    faultsOf(api.call("upsertDatasetEvents", { eventDatasetId: long, events: [] })),
    faultsOf(api.call("getEventDataset", { eventDatasetId: long })),
    faultsOf(api.call("getJob", { projectId, jobId: long })),
    faultsOf(api.call("deleteModel", { projectId, modelId: long })),
    faultsOf(api.call("shutdownDeployment", { projectId: long })),
  ]);
  expect(refusals.map(([status, details]) => [status, details[0].path])).toEqual(
    ["event_dataset_id", "event_dataset_id", "event_dataset_id", "job_id", "model_id", "project_id"].map(
      (path) => [400, path],
    ),
  );
  // An id of the maximum length is valid, but unknown.
  const longest = "x".repeat(limits.idCharacters);
  await expect(api.call("getJob", { projectId, jobId: longest })).rejects.toMatchObject({ status: 404 });
  await api.call("deleteDatasetUserEvents", { eventDatasetId, userId: longest });
});

test("event_weights with more types than the limit are rejected, and with the limit accepted", async () => {
  const create = (types: number) =>
    api.call("createAlgorithm", {
      projectId: shop.projectId,
      name: "many types",
      algorithmParameters: {
        event_weights: Object.fromEntries(Array.from({ length: types }, (_, at) => [`type${at}`, 1])),
      },
    });
  expect(await faultsOf(create(2000))).toEqual([
    400,
    [
      {
        path: "algorithm_parameters.event_weights",
        message: "expected at most 1000 entries, received 2000",
      },
    ],
  ]);
  await create(limits.eventWeights);
});

test("the body of a recommendation call has a small limit", async () => {
  const { status } = await api.raw("/recommend-items-to-user", {
    method: "POST",
    headers: { ...(await api.headers("/recommend-items-to-user")), "content-type": "application/json" },
    body: JSON.stringify({ user_id: "x".repeat(limits.recommendationBytes) }),
  });
  expect(status).toBe(413);
});
