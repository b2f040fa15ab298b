import fc from "fast-check";
import type { z } from "zod";
import { decode, encode, type RouteName, routes, userRecord, wireName, wireSchema } from "../../contract";
import { arbitraryOf } from "./arbitrary";

const names = Object.keys(routes) as RouteName[];

describe("names on the wire", () => {
  test.each(names)("%s: encoding and decoding a request returns the same request", (name) => {
    const schema: z.ZodType = routes[name].request;
    fc.assert(
      fc.property(arbitraryOf(schema), (input) => {
        const request = schema.parse(input);
        const body = JSON.parse(JSON.stringify(encode(schema, request)));
        expect(textOf(decode(schema, body))).toBe(textOf(request));
        expect(wireSchema(schema).safeParse(body).error).toBeUndefined();
      }),
    );
  });

  test.each(names)("%s: encoding and decoding a reply returns the same reply", (name) => {
    const schema: z.ZodType = routes[name].reply;
    fc.assert(
      fc.property(arbitraryOf(schema), (reply) => {
        const body = JSON.parse(JSON.stringify(encode(schema, reply)));
        expect(textOf(schema.parse(decode(schema, body)))).toBe(textOf(reply));
      }),
    );
  });

  test("a problem of a field is reported once, beside those of several fields together", () => {
    const schema = wireSchema(routes.submitRecommendationJob.request);
    const body = { name: "mail", project_id: "p", limit: 0, user_ids: ["ada"], query: { conditions: [] } };
    const paths = schema.safeParse(body).error?.issues.map(({ path }) => path.join("."));
    expect(paths?.sort()).toEqual(["limit", "query", "query.conditions"]);
  });

  test("every field of every request is snake_case on the wire", () => {
    for (const name of names) {
      const keys = Object.keys((wireSchema(routes[name].request) as z.ZodObject).shape ?? {});
      for (const key of keys) expect(key).toMatch(/^[a-z]+(_[a-z]+)*$/);
    }
    expect(wireName("minUserNum")).toBe("min_user_num");
  });

  test("keys of maps with user-chosen keys are not renamed at any depth", () => {
    const attributes = JSON.parse(
      '{"someKey":{"innerKey":[{"deepKey":1}],"snake_key":2},"__proto__":{"a":1},"":0,"名":1}',
    );
    const request = userRecord.parse({ userId: "u", attributes });
    const body = encode(userRecord, request) as Record<string, unknown>;
    expect(JSON.stringify(body.attributes)).toBe(JSON.stringify(attributes));
  });

  test("item attributes are next to item_id on the wire and under attributes in programs", () => {
    const body = JSON.parse('{"results":[{"item":{"item_id":"i1","itemId":"attribute","__proto__":7}}]}');
    const reply = decode(routes.recommendItemsToUser.reply, body) as {
      results: { item: { itemId: string; attributes: Record<string, unknown> } }[];
    };
    expect(reply.results[0].item.itemId).toBe("i1");
    expect(Object.entries(reply.results[0].item.attributes)).toEqual([
      ["itemId", "attribute"],
      ["__proto__", 7],
    ]);
  });
});

describe("replies are read tolerantly", () => {
  const read = (name: RouteName, body: unknown) => routes[name].reply.parse(decode(routes[name].reply, body));

  test.each([
    ["createItemDataset", "itemDatasetId"],
    ["createEventDataset", "eventDatasetId"],
    ["getEventDataset", "eventDatasetId"],
    ["deleteEventDataset", "eventDatasetId"],
  ] as const)("%s takes the id from user_dataset_id if its own key is missing", (name, key) => {
    expect(read(name, { user_dataset_id: "d1" })).toMatchObject({ [key]: "d1" });
    expect(read(name, { user_dataset_id: "other", [wireName(key)]: "d1" })).toMatchObject({ [key]: "d1" });
  });

  test("unknown keys are dropped", () => {
    expect(read("createProject", { project_id: "p", new_thing: { a: 1 }, __proto__: null })).toEqual({
      projectId: "p",
    });
  });

  test("an unknown job_status and unknown attribute handling are not errors", () => {
    expect(read("getJob", { job_status: "QUEUED" })).toEqual({ jobStatus: "QUEUED" });
    expect(
      read("getEventDataset", { event_dataset_id: "d", attribute_schema: { geo: "GEOGRAPHICAL" } }),
    ).toMatchObject({ attributeSchema: { geo: "GEOGRAPHICAL" } });
  });

  test("a reply without its id is rejected", () => {
    expect(
      routes.createProject.reply.safeParse(decode(routes.createProject.reply, { name: "n" })).success,
    ).toBe(false);
  });
});

describe("requests are validated strictly", () => {
  const faults = (name: RouteName, input: unknown) =>
    routes[name].request
      .safeParse(input)
      .error?.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);

  test("an unknown key, a wrong type and a missing field are reported", () => {
    expect(
      faults("createEventDataset", { numShards: 1.5, nmae: "x", attributeSchema: { age: "NUMBER" } }),
    ).toEqual([
      "name: Invalid input: expected string, received undefined",
      "numShards: Invalid input: expected int, received number",
      "attributeSchema.age: expected NUMERICAL or CATEGORICAL",
      ': Unrecognized key: "nmae"',
    ]);
  });

  test("an attribute named __proto__ is validated like any other", () => {
    const attributeSchema = JSON.parse('{"__proto__":"NUMBER"}');
    expect(faults("createEventDataset", { name: "n", numShards: 1, attributeSchema })).toEqual([
      "attributeSchema.__proto__: expected NUMERICAL or CATEGORICAL",
    ]);
  });

  test.each([
    [Number.NaN, "expected a finite number, received NaN"],
    [undefined, "expected a JSON value, received undefined"],
    [new Date(0), "expected a JSON value, received Date"],
    [() => 1, "expected a JSON value, received function"],
  ])("a value that JSON would drop or change is rejected: %p", (value, message) => {
    const users = [{ userId: "u", attributes: { a: [{ b: value }] } }];
    expect(faults("upsertDatasetUsers", { userDatasetId: "d", users })).toEqual([
      `users.0.attributes.a.0.b: ${message}`,
    ]);
  });

  test("more than 1000 records in a call are rejected", () => {
    const users = Array.from({ length: 1001 }, (_, index) => ({ userId: `u${index}` }));
    expect(faults("upsertDatasetUsers", { userDatasetId: "d", users })).toHaveLength(1);
    expect(faults("upsertDatasetUsers", { userDatasetId: "d", users: users.slice(1) })).toBeUndefined();
  });
});

/** Serializes a value, because Jest's equality ignores keys such as `constructor` and `__proto__`. */
function textOf(value: unknown): string {
  return JSON.stringify(value, null, 1);
}
