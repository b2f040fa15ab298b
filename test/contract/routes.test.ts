import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Route, routes, wireName } from "../../contract";
import { openApiDocument } from "../../tools/openapi";

/** Operations of the specification, written by hand, so this test does not depend on the contract. */
const specification = `
POST /create-user-dataset
POST /upsert-dataset-users
POST /create-item-dataset
POST /upsert-dataset-items
POST /create-event-dataset
PUT /update-event-dataset
GET /get-event-dataset
GET /list-event-datasets
DELETE /delete-event-dataset
POST /upsert-dataset-events
DELETE /delete-dataset-user-events
DELETE /delete-dataset-events-before-ts
POST /create-project
POST /create-algorithm
POST /submit-training-job
POST /submit-deployment-job
POST /submit-querying-job
POST /submit-clustering-job
GET /get-job
PUT /update-model
GET /get-model
GET /list-models
DELETE /delete-model
DELETE /shutdown-deployment
POST /recommend-items-to-user`
  .trim()
  .split("\n")
  .sort();

/** Extensions, also written by hand. */
const extended = `
DELETE /delete-dataset-user
DELETE /delete-orphan
GET /count-dataset-records
GET /count-model-events
GET /get-algorithm
GET /get-deployment
GET /get-item-dataset
GET /get-project
GET /get-user-dataset
GET /list-orphans
GET /list-recent-users
POST /recommend-items-to-item
POST /submit-recommendation-job
PUT /mark-orphaned`
  .trim()
  .split("\n")
  .sort();

describe("routes", () => {
  const operations = (isExtension: boolean) =>
    Object.values(routes)
      .filter((route: Route) => (route.extension === true) === isExtension)
      .map((route) => `${route.method} ${route.path}`)
      .sort();

  test("every operation of the specification has a route", () => {
    expect(operations(false)).toEqual(specification);
  });

  test("every other operation is marked as an extension", () => {
    expect(operations(true)).toEqual(extended);
  });

  test("the name of a route matches its path", () => {
    for (const [name, route] of Object.entries(routes)) {
      expect(`/${wireName(name).replaceAll("_", "-")}`).toBe(route.path);
    }
  });

  test("only creates and submits are not repeatable", () => {
    const once = Object.values(routes).filter((route) => !route.repeatable);
    expect(once.map((route) => route.path).sort()).toEqual(
      [...specification, ...extended]
        .map((line) => line.split(" ")[1])
        .filter((path) => /^\/(create|submit)-/.test(path))
        .sort(),
    );
  });
});

describe("openapi.json", () => {
  test("is up to date with `npm run openapi`", () => {
    const written = JSON.parse(readFileSync(join(__dirname, "..", "..", "openapi.json"), "utf8"));
    expect(JSON.parse(JSON.stringify(openApiDocument()))).toEqual(written);
  });
});
