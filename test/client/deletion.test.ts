import { deleteExisting, deleteObject } from "../../client/deletion";
import { undefinedIfMissing } from "../../client/error-meaning";
import { routes } from "../../contract";
import { type Answer, clientOf, reply, scriptedServer } from "./server";

const ref = { eventDatasetId: "d1" };
const dataset = { event_dataset_id: "d1", name: "n", num_shards: 1 };
const missing = { error: { code: "NOT_FOUND", message: "There is no event dataset d1." } };
const noContent: Answer = (_, response) => response.writeHead(204).end();

/** Deletes a dataset at a service, and returns the calls and the error. */
async function deleting(
  { deletes, reads }: { deletes: Answer[]; reads: Answer[] },
  remove: "deleteObject" | "deleteExisting" = "deleteObject",
) {
  const next = (answers: Answer[]) => (answers.length > 1 ? answers.shift() : answers[0]) as Answer;
  const list = reply(200, { event_datasets: [] });
  const server = await scriptedServer((request, response) => {
    const answers = { "/delete-event-dataset": deletes, "/get-event-dataset": reads }[request.path];
    return next(answers ?? [list])(request, response);
  });
  const { client } = clientOf(server);
  await client.call(routes.listEventDatasets, {});
  const send = (options: object) => client.call(routes.deleteEventDataset, ref, options);
  const read = () => client.call(routes.getEventDataset, ref);
  const isGone = async () => (await undefinedIfMissing(read())) === undefined;
  const work = remove === "deleteObject" ? deleteObject({ send, isGone }) : deleteExisting(send, read);
  const error = await work.then(
    () => undefined,
    (thrown: Error) => thrown.message,
  );
  await server.close();
  return { error, methods: server.arrived.slice(1).map(({ method }) => method) };
}

/** Replies that do not show that the object was deleted. */
const undecided: [string, Answer][] = [
  ["an empty 200", reply(200, "")],
  ["a 204", noContent],
  ["{}", reply(200, {})],
  ["another object", reply(200, { ...dataset, event_dataset_id: "d2" })],
  ["a gateway's 410", reply(410, { message: "Gone" })],
  ["a gateway's 404", reply(404, { message: "no Route matched" })],
  ["a gateway's 400", reply(400, "<html>")],
];

test("the object's last configuration completes a deletion without a read", async () => {
  const done = await deleting({ deletes: [reply(200, dataset)], reads: [reply(200, dataset)] });
  expect(done).toEqual({ error: undefined, methods: ["DELETE"] });
});

test.each(undecided)(
  "%s completes a deletion if the service no longer finds the object",
  async (_, answer) => {
    const done = await deleting({ deletes: [answer], reads: [reply(404, missing)] });
    expect(done).toEqual({ error: undefined, methods: ["DELETE", "GET"] });
  },
);

test.each(undecided)("%s is followed by another call if the object still exists", async (_, answer) => {
  const done = await deleting({ deletes: [answer, reply(200, dataset)], reads: [reply(200, dataset)] });
  expect(done).toEqual({ error: undefined, methods: ["DELETE", "GET", "DELETE"] });
});

test.each(undecided)("%s fails the deletion if the object continues to exist", async (_, answer) => {
  const { error } = await deleting({ deletes: [answer], reads: [reply(200, dataset)] });
  expect(error).toMatch(
    /^DELETE \/delete-event-dataset: .*gave up.*; but a read shows that the object still exists$/,
  );
});

test.each(undecided)("%s fails the deletion if a gateway answers the read too", async (_, answer) => {
  const { error } = await deleting({ deletes: [answer], reads: [reply(404, "<html>")] });
  expect(error).toMatch(/^DELETE \/delete-event-dataset: /);
  expect(error).not.toContain("still exists");
});

test("an object that does not exist is deleted for a resource, and an error for a command", async () => {
  const deletes = () => [reply(404, missing)];
  expect((await deleting({ deletes: deletes(), reads: [] })).error).toBeUndefined();
  const { error } = await deleting({ deletes: deletes(), reads: [] }, "deleteExisting");
  expect(error).toMatch(/404 NOT_FOUND/);
});

test("a command also reads the object after an undecided reply", async () => {
  const done = await deleting({ deletes: [noContent], reads: [reply(404, missing)] }, "deleteExisting");
  expect(done).toEqual({ error: undefined, methods: ["DELETE", "GET"] });
});
