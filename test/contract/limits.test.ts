import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { buildEventId, eventRecord, limits, routes, usageCondition, wireSchema } from "../../contract";
import { openApiDocument } from "../../tools/openapi";

const dataset = { name: "clicks", numShards: 1 };
const event = { eventId: "e", userId: "u", itemId: "i", ts: 0, eventType: "view" };
const deployment = { projectId: "p", name: "live", generatorModelId: "m" };
const query = { name: "q", projectId: "p", modelId: "m" };
const condition = { attribute: "genre", value: "jazz" };

function faults(schema: z.ZodType, value: unknown): string[] {
  return (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) =>
    [path.join("."), message].filter(Boolean).join(": "),
  );
}

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

describe("limits of requests", () => {
  const { createEventDataset, submitDeploymentJob, submitQueryingJob, recommendItemsToUser } = routes;

  test.each([
    [createEventDataset.request, { ...dataset, numShards: 1e9 }, "numShards", limits.shards],
    [createEventDataset.request, { ...dataset, name: "n".repeat(257) }, "name", limits.nameCharacters],
    [submitDeploymentJob.request, { ...deployment, qps: 1e12 }, "qps", limits.qps],
    [eventRecord, { ...event, userId: "u".repeat(257) }, "userId", limits.idCharacters],
    [eventRecord, { ...event, ts: Number.MAX_SAFE_INTEGER }, "ts", limits.eventTs],
    [
      eventRecord,
      { ...event, attributes: { deep: nested(32) } },
      ["attributes", "deep", ...Array(31).fill(0)].join("."),
      limits.attributeDepth,
    ],
    [recommendItemsToUser.request, { userId: "u", limit: 100_000 }, "limit", limits.recommendedItems],
    [
      recommendItemsToUser.request,
      { userId: "u", attributes: Array(51).fill("a") },
      "attributes",
      limits.recommendedAttributes,
    ],
    [
      submitQueryingJob.request,
      { ...query, queryType: "user_distribution", queries: [{ ...condition, bins: 12_000_000 }] },
      "queries.0.bins",
      limits.bins,
    ],
    [
      submitQueryingJob.request,
      { ...query, queryType: "user_list", queries: [{ conditions: Array(21).fill(condition) }] },
      "queries.0.conditions",
      limits.conditions,
    ],
    [
      submitQueryingJob.request,
      { ...query, queryType: "user_list", queries: Array(101).fill({ conditions: [condition] }) },
      "queries",
      limits.queries,
    ],
  ] as [z.ZodType, object, string, number][])(
    "a request over a limit is rejected, and the message has the path and the limit: %#",
    (schema, value, place, limit) => {
      expect(faults(schema, value)).toEqual([
        expect.stringMatching(new RegExp(`^${place}: .*\\b${limit}\\b`)),
      ]);
    },
  );

  test.each([
    [{ ...dataset, name: " " }, "name: expected more than white space"],
    [{ ...dataset, name: "a\nb" }, "name: expected text on one line, without control characters"],
    [
      { ...dataset, attributeSchema: { "": "NUMERICAL" } },
      "attributeSchema.: expected a name, received empty text",
    ],
  ])("an unreadable name is rejected: %#", (value, fault) => {
    expect(faults(createEventDataset.request, value)).toEqual([fault]);
  });

  test("a request at its limits is accepted", () => {
    const name = "n".repeat(limits.nameCharacters);
    expect(faults(createEventDataset.request, { name, numShards: limits.shards })).toEqual([]);
    expect(faults(submitDeploymentJob.request, { ...deployment, qps: limits.qps })).toEqual([]);
    expect(faults(eventRecord, { ...event, attributes: { deep: nested(31) } })).toEqual([]);
    const most = {
      limit: limits.recommendedItems,
      attributes: Array(limits.recommendedAttributes).fill("a"),
    };
    expect(faults(recommendItemsToUser.request, { userId: "u", ...most })).toEqual([]);
  });

  test("an event id is limited in bytes, and one built from the longest ids fits", () => {
    for (const character of ["a", ":", "€", "😀"]) {
      const id = character.repeat(limits.idCharacters / character.length);
      const built = buildEventId(id, id, Number.MAX_SAFE_INTEGER);
      expect(faults(eventRecord, { ...event, userId: id, itemId: id, eventId: built })).toEqual([]);
    }
    expect(faults(eventRecord, { ...event, eventId: "€".repeat(limits.eventIdBytes / 3 + 1) })).toEqual([
      "eventId: expected at most 2048 bytes",
    ]);
  });

  test("ids of existing objects have the same limit as ids of new ones", () => {
    const userId = "u".repeat(limits.idCharacters + 1);
    const fault = expect.stringContaining(`${limits.idCharacters} characters`);
    expect(faults(recommendItemsToUser.request, { userId })).toEqual([fault]);
    expect(faults(routes.deleteDatasetUserEvents.request, { eventDatasetId: "d", userId })).toEqual([fault]);
  });
});

test("the documentation lists each limit", () => {
  const text = readFileSync(join(__dirname, "..", "..", "docs", "service-policy.md"), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm)];
  const documented = Object.fromEntries(
    rows.map(([, name, value]) => [name, Number(value?.replaceAll(",", ""))]),
  );
  const { recordsPerShard, quickStartShards, defaultBins, defaultQps, jobRetries, ...ofRequests } = limits;
  expect(documented).toMatchObject(ofRequests);
});

describe("bounds of usage", () => {
  test("are between 0 and 1, and a percentage is rejected with an explanation", () => {
    expect(faults(usageCondition, { ...condition, lowerBound: 2, upperBound: 3 })).toEqual([
      "lowerBound: usage is a share between 0 and 1, not a percentage: 0.2 means 20 %",
      "upperBound: usage is a share between 0 and 1, not a percentage: 0.2 means 20 %",
    ]);
    expect(faults(usageCondition, { ...condition, lowerBound: -0.1 })).toHaveLength(1);
    expect(faults(usageCondition, { ...condition, lowerBound: 0, upperBound: 1 })).toEqual([]);
  });

  test("must be in order, in programs and on the wire", () => {
    expect(faults(usageCondition, { ...condition, lowerBound: 0.5, upperBound: 0.1 })).toEqual([
      "lowerBound: the lower bound 0.5 is above the upper bound 0.1",
    ]);
    const wire = wireSchema(usageCondition);
    expect(faults(wire, { ...condition, lower_bound: 0.5, upper_bound: 0.1 })).toEqual([
      "lower_bound: the lower bound 0.5 is above the upper bound 0.1",
    ]);
    expect(faults(wire, { ...condition, lower_bound: 0.1, upper_bound: 0.5 })).toEqual([]);
  });
});

describe("parameters of G1", () => {
  const request = routes.createAlgorithm.request;
  const algorithm = (algorithmParameters: object) => ({ projectId: "p", name: "n", algorithmParameters });

  test("are validated, and an unknown key is rejected", () => {
    expect(faults(request, algorithm({ dimension: 8 }))).toEqual([
      expect.stringMatching(/^algorithmParameters: .*dimension/),
    ]);
    expect(faults(request, algorithm({ dimensions: "many" }))).toHaveLength(1);
    expect(faults(request, algorithm({ dimensions: 8, regularization_exponent: 1 }))).toEqual([]);
  });

  test("of other services are accepted in replies", () => {
    const reply = { algorithmId: "a", algorithmParameters: { layers: [1, 2] } };
    expect(routes.createAlgorithm.reply.parse(reply)).toEqual(reply);
  });

  test("are in the OpenAPI document", () => {
    const { paths } = JSON.parse(JSON.stringify(openApiDocument()));
    const { schema } = paths["/create-algorithm"].post.requestBody.content["application/json"];
    expect(schema.properties.algorithm_parameters).toMatchObject({
      additionalProperties: false,
      properties: { dimensions: { type: "integer", maximum: 512 } },
    });
  });
});
