import { applyChange } from "../../client/change";
import { type Client, OutcomeUnknownError, ReplyError } from "../../client/client";
import { deleteObject } from "../../client/deletion";
import { meansAbsentOrNotServing } from "../../client/error-meaning";
import { routes } from "../../contract";
import { clientOf, reply, scriptedServer } from "./server";

const list = reply(200, { event_datasets: [] });
let server: Awaited<ReturnType<typeof scriptedServer>>;
afterEach(() => server?.close());

/** Returns the error of a call whose reply is always the same. */
async function errorOf(body: object, call: (client: Client) => Promise<unknown>): Promise<Error> {
  server = await scriptedServer(list, reply(200, body));
  const { client } = clientOf(server);
  await client.call(routes.listEventDatasets, {});
  return call(client).then(
    () => new Error("it succeeded"),
    (error) => error,
  );
}

describe("a reply that repeats a field of the request with another value decides nothing:", () => {
  const dataset = { name: "clicks", numShards: 1 };
  const project = { name: "n", userDatasetId: "u", itemDatasetId: "i", eventDatasetId: "e" };

  test.each<[string, object, (client: Client) => Promise<unknown>]>([
    [
      "name payments, not clicks",
      { event_dataset_id: "d1", name: "payments", num_shards: 1 },
      (client) => client.call(routes.createEventDataset, dataset),
    ],
    [
      "num_shards 7, not 1",
      { user_dataset_id: "d1", name: "clicks", num_shards: 7 },
      (client) => client.call(routes.createUserDataset, dataset),
    ],
    [
      "target_event_type view, not buy",
      { project_id: "p", target_event_type: "view" },
      (client) => client.call(routes.createProject, { ...project, targetEventType: "buy" }),
    ],
    [
      "project_id p2, not p1",
      { algorithm_id: "a", project_id: "p2", name: "g1" },
      (client) => client.call(routes.createAlgorithm, { projectId: "p1", name: "g1" }),
    ],
  ])("the outcome of a create stays unknown after %s", async (difference, body, call) => {
    const error = await errorOf(body, call);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.message).toContain(`returned 200, but the response is about ${difference}`);
    expect(server.arrived).toHaveLength(2);
  });

  test.each<[string, object, (client: Client) => Promise<unknown>]>([
    [
      "ts 5, not 9",
      { event_dataset_id: "d1", ts: 5 },
      (client) => client.call(routes.deleteDatasetEventsBeforeTs, { eventDatasetId: "d1", ts: 9 }),
    ],
    [
      "name old, not new",
      { project_id: "p1", model_id: "m1", name: "old" },
      (client) => client.call(routes.updateModel, { projectId: "p1", modelId: "m1", name: "new" }),
    ],
  ])("a change fails after %s", async (difference, body, call) => {
    const error = await errorOf(body, call);
    expect(error.message).toContain(`the response is about ${difference}`);
    expect(server.arrived.length).toBeGreaterThan(2);
  });

  test.each<[string, object, (client: Client) => Promise<unknown>]>([
    [
      "the deletion of a user's events",
      { event_dataset_id: "d1", user_id: "bob" },
      (client) => client.call(routes.deleteDatasetUserEvents, { eventDatasetId: "d1", userId: "ada" }),
    ],
    [
      "a recommendation",
      { user_id: "bob", results: [{ item: { item_id: "secret" } }] },
      (client) => client.call(routes.recommendItemsToUser, { userId: "ada" }),
    ],
  ])("%s fails without showing the users, because ids of users are personal data", async (_, body, call) => {
    const { message } = await errorOf(body, call);
    expect(message).toContain("the response is about another user_id than the request");
    expect(message).not.toMatch(/ada|bob/);
  });

  test("but a service may leave a field out, and may fill in a value that the request leaves open", async () => {
    server = await scriptedServer(
      reply(200, { event_dataset_id: "d1", attribute_schema: { a: "NUMERICAL" } }),
    );
    const { client } = clientOf(server);
    await expect(client.call(routes.createEventDataset, dataset)).resolves.toMatchObject({
      eventDatasetId: "d1",
    });
  });
});

describe("a change whose reply has the old value", () => {
  const rename = (client: Client) =>
    applyChange({
      object: "model m1",
      sent: { name: "new" },
      send: (options) =>
        client.call(routes.updateModel, { projectId: "p1", modelId: "m1", name: "new" }, options),
      read: () => client.call(routes.getModel, { projectId: "p1", modelId: "m1" }),
      reported: ({ name }) => (name == null ? {} : { name }),
      fix: () => "Run it again.",
    });
  const model = (name: string) => reply(200, { project_id: "p1", model_id: "m1", name });

  test("is complete if a read shows the new value", async () => {
    server = await scriptedServer(list, model("old"), model("new"));
    const { client } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    await expect(rename(client)).resolves.toMatchObject({ name: "new" });
    expect(server.arrived.map(({ method }) => method)).toEqual(["GET", "PUT", "GET"]);
  });

  test("fails if reads keep showing the old value", async () => {
    server = await scriptedServer(list, model("old"));
    const { client } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    await expect(rename(client)).rejects.toThrow(
      "the service accepted the change to model m1, but did not apply it: name still has a different value. Run it again.",
    );
  });
});

describe("a 409 that says that nothing is deployed", () => {
  const conflict = (message: string) => reply(409, { error: { code: "NOT_DEPLOYED", message } });
  const shutDown = async (message: string, isGone: boolean) => {
    server = await scriptedServer(conflict(message));
    const { client } = clientOf(server);
    let reads = 0;
    const work = deleteObject({
      send: (options) => client.call(routes.shutdownDeployment, { projectId: "p1" }, options),
      isGone: async () => {
        reads++;
        return isGone;
      },
      meansGone: meansAbsentOrNotServing,
    });
    const shown = await work.then(
      () => "it succeeded",
      (error: Error) => error.message,
    );
    return { shown, reads };
  };

  test("completes a shutdown without a read if it names the project", async () => {
    expect(await shutDown("No model is deployed in project p1.", false)).toEqual({
      ...{ shown: "it succeeded", reads: 0 },
    });
  });

  test("completes a shutdown if it names no object and a read confirms it", async () => {
    expect(await shutDown("application is not deployed", true)).toEqual({ shown: "it succeeded", reads: 1 });
  });

  test("fails a shutdown if it names no object and a read shows the deployment", async () => {
    const { shown } = await shutDown("application is not deployed", false);
    expect(shown).toMatch(
      /409 NOT_DEPLOYED: application is not deployed.*; but a read shows that the object still exists$/,
    );
  });
});

test("an error about another call can be recognised", async () => {
  const error = await errorOf({ project_id: "p2", job_id: "j1", job_status: "SUCCEED" }, (client) =>
    client.call(routes.getJob, { projectId: "p1", jobId: "j1" }),
  );
  expect([error, error.cause].find((one) => one instanceof ReplyError)).toMatchObject({
    isOfOtherCall: true,
  });
});
