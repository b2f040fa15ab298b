import { type Evidence, isRecognised, kindsIn, type Outcome, outcomeOf } from "../../client/finality";
import { readErrorBody } from "../../client/http/error-body";
import { routes } from "../../contract";

const json = (body: unknown) => JSON.stringify(body);
const asked = { kinds: ["dataset", "model"], ids: ["d1"] };

describe("an error reply comes from the service", () => {
  test.each<[number, string]>([
    [404, json({ error: { code: "NOT_FOUND", message: 'There is no event dataset "d1"; see /list.' } })],
    [404, json({ message: "no such model" })],
    [404, json({ code: "DATASET_NOT_FOUND", message: "gone" })],
    [404, json({ type: "about:blank", title: "Problem", detail: "d1 is not here" })],
    [410, json({ message: "the dataset was deleted" })],
    [410, json({ code: "GONE", message: "d1 was deleted" })],
    [404, json({ message: "no object (d1)." })],
    [409, json({ error: { code: "PLAN_EXCEEDED", message: "too many shards" } })],
    [400, json({ error: "invalid" })],
    [422, json({ errors: [{ code: "X", message: "first" }] })],
    [500, json({ error: { code: "INTERNAL", message: "oops" } })],
  ])("%i %s", (status, body) => {
    expect(isRecognised(status, readErrorBody(body), asked)).toBe(true);
  });
});

describe("an error reply does not come from the service", () => {
  test.each<[string, number, string]>([
    ["a page for people", 404, "<html><title>404 Not Found</title></html>"],
    ["a page about a model", 404, "<html><title>No such model</title></html>"],
    ["Kong's", 404, json({ message: "no Route matched with those values" })],
    ["an ingress's default backend", 404, "default backend - 404"],
    ["Traefik's", 404, "404 page not found"],
    [
      "Fastify's, which quotes the path",
      404,
      json({ message: "Route GET:/get-model?model_id=d1 not found" }),
    ],
    ["Spring's", 404, json({ status: 404, error: "Not Found", path: "/get-event-dataset" })],
    ["AWS API Gateway's", 404, json({ message: "Not Found" })],
    [
      "Spring Boot's, which quotes the path without its slash",
      404,
      json({ detail: "No static resource get-model." }),
    ],
    ["a mesh's, which names a backend", 404, json({ message: "no healthy dataset-service" })],
    ["one with a longer id", 404, json({ message: "d11 and x-d1 are unknown" })],
    ["Azure's", 404, json({ statusCode: 404, message: "Resource not found" })],
    [
      "our own for a path that it does not have",
      404,
      json({ error: { message: "There is no operation at /v2/get-job." } }),
    ],
    ["a gateway's 410", 410, json({ message: "Gone" })],
    ["one without a body", 404, ""],
    ["one without a body, for a conflict", 409, ""],
    ["JSON without a text", 400, "{}"],
    ["a text in JSON", 404, '"no such model"'],
    ["a page for a refused method", 405, "<html></html>"],
    ["a redirect", 302, ""],
    ["a redirect with an error in it", 302, json({ error: { code: "NOT_FOUND", message: "no such model" } })],
  ])("%s", (_, status, body) => {
    expect(isRecognised(status, readErrorBody(body), asked)).toBe(false);
  });
});

test("a status in a body is not the id of an object", () => {
  const body = readErrorBody(json({ code: 404, message: "Not Found" }));
  expect(isRecognised(404, body, { kinds: [], ids: ["4"] })).toBe(false);
  expect(isRecognised(404, body, { kinds: [], ids: ["404"] })).toBe(false);
});

describe("a 404 is recognised by what the request asked for", () => {
  const answers = (name: keyof typeof routes, code: string) =>
    isRecognised(404, readErrorBody(json({ code, message: "Not here." })), {
      kinds: kindsIn(routes[name]),
      ids: [],
    });

  test.each<[string, keyof typeof routes, string]>([
    ["a dataset of a read", "getEventDataset", "event dataset not found"],
    ["a dataset in two words", "getEventDataset", "There is no such data set"],
    ["a dataset of an upload", "upsertDatasetUsers", "no such dataset"],
    ["a dataset of a new project", "createProject", "unknown item_dataset_id"],
    ["the project of a model", "getModel", "project not found"],
    ["the model of a deployment", "submitDeploymentJob", "ModelNotFound"],
    ["a job", "getJob", "JOB_NOT_FOUND"],
    ["the project of a query", "submitQueryingJob", "project not found"],
    ["the project of a deployment", "shutdownDeployment", "project not found"],
    ["the user of a recommendation", "recommendItemsToUser", "no such user"],
    ["the models behind a recommendation", "recommendItemsToUser", "no model is deployed"],
  ])("%s", (_, name, code) => {
    expect(answers(name, code)).toBe(true);
  });

  test.each<[string, keyof typeof routes, string]>([
    ["a router's deployment", "getEventDataset", "The deployment could not be found"],
    ["a router's deployment, by its code", "getModel", "DEPLOYMENT_NOT_FOUND"],
    ["a router's deployment, for a project's", "shutdownDeployment", "deployment not found"],
    ["a router's deployment, for recommendations", "recommendItemsToUser", "deployment not found"],
    ["a router's project", "getEventDataset", "project not found"],
    ["an item", "getModel", "the requested item does not exist"],
    ["a part of a word", "getJob", "see the jobless projector"],
    ["a list, which asks for nothing", "listEventDatasets", "event dataset not found"],
  ])("but not by %s", (_, name, code) => {
    expect(answers(name, code)).toBe(false);
  });
});

/** Status, whether recognised, reason, and the outcome without and with an earlier attempt that may have run. */
test.each<[number, boolean, string, Outcome, Outcome]>([
  [400, true, "name is missing", "rejected", "rejected"],
  [404, true, "no such project", "rejected", "unknown"],
  [409, true, "the plan allows 10 shards", "rejected", "unknown"],
  [409, true, "a request with this key is still being processed", "unknown", "unknown"],
  [409, true, "IDEMPOTENCY_KEY_IN_PROGRESS", "unknown", "unknown"],
  [409, true, "the name already exists", "unknown", "unknown"],
  [409, true, "Conflict", "unknown", "unknown"],
  [409, true, "Conflict: the model is deployed", "rejected", "unknown"],
  [410, true, "it was deleted", "rejected", "rejected"],
  [413, true, "too large", "rejected", "rejected"],
  [422, true, "other body under this key", "rejected", "rejected"],
  [302, false, "", "unknown", "unknown"],
  [400, false, "", "unknown", "unknown"],
  [404, false, "no Route matched", "unknown", "unknown"],
  [405, false, "", "unknown", "unknown"],
  [409, false, "", "unknown", "unknown"],
  [410, false, "", "unknown", "unknown"],
  [413, false, "", "not run", "not run"],
  [401, true, "expired", "not run", "not run"],
  [403, false, "", "not run", "not run"],
  [429, true, "slow down", "not run", "not run"],
  [408, true, "too slow", "unknown", "unknown"],
  [500, true, "oops", "unknown", "unknown"],
  [503, false, "", "unknown", "unknown"],
])("%i, recognised %s, %j: %s, and after a lost attempt %s", (status, isOwn, reason, first, later) => {
  const evidence: Evidence = { status, code: undefined, reason, isRecognised: isOwn };
  expect([outcomeOf(evidence), outcomeOf(evidence, true)]).toEqual([first, later]);
});
