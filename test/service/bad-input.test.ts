import { toUSVString } from "node:util";
import fc from "fast-check";
import { errorBody, type RouteName, routes, wireSchema } from "../../contract";
import { Running } from "./running";
import { openShop } from "./shop";

const runs = Number(process.env.BAD_INPUTS ?? 40);

/** JSON that is nearly right: real ids, wrong types, awkward keys and numbers. */
function nearly(ids: Record<string, unknown>, keys: readonly string[]): fc.Arbitrary<unknown> {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(null, -1, 0, 1e308, 2 ** 53, "", "\ud800", "\0", "__proto__", [], {}, [[]], {
      conditions: [],
    }),
    fc.constantFrom("nowhere", ...Object.values(ids)),
    fc.array(fc.dictionary(fc.constantFrom("name", ...keys), fc.jsonValue(), { maxKeys: 4 }), {
      maxLength: 3,
    }),
  );
  const object = fc.dictionary(
    fc.oneof(fc.constantFrom(...keys), fc.constantFrom("__proto__", "extra", "")),
    value,
    { maxKeys: 8 },
  );
  return fc.oneof(
    { weight: 8, arbitrary: object.map((given) => ({ ...ids, ...given })) },
    { weight: 2, arbitrary: object },
    fc.jsonValue(),
  );
}

describe("wrong bodies", () => {
  let api: Running;
  let ids: Record<string, string>;
  beforeAll(async () => {
    api = await Running.start();
    const shop = await openShop(api);
    ids = Object.fromEntries(
      Object.entries(shop).map(([key, id]) => [key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), id]),
    );
  });
  afterAll(() => api.end());

  test.each(Object.keys(routes) as RouteName[])(
    "%s answers each with its reply or a 4xx in the one shape",
    async (name) => {
      const route = routes[name];
      const schema = wireSchema(route.request) as unknown as {
        shape?: object;
        options?: { shape: object }[];
      };
      const keys = Object.keys(
        schema.shape ?? Object.assign({}, ...(schema.options ?? []).map(({ shape }) => shape)),
      );
      const own = Object.fromEntries(Object.entries(ids).filter(([key]) => keys.includes(key)));
      const headers = { ...(await api.headers(route.path)), "content-type": "application/json" };
      await fc.assert(
        fc.asyncProperty(nearly(own, [...keys, "user_id", "attribute", "value"]), async (body) => {
          const text = JSON.stringify(body);
          const answer =
            route.method === "GET"
              ? await api.raw(`${route.path}?${new URLSearchParams(queryOf(body))}`, { headers })
              : await api.raw(route.path, { method: route.method, headers, body: text });
          if (answer.status === 200) wireSchema(route.reply).parse(answer.body);
          else {
            expect([400, 404, 409]).toContain(answer.status);
            wireSchema(errorBody).parse(answer.body);
            expect(answer.body.error.request_id).toBe(answer.answered["x-request-id"]);
          }
        }),
        { numRuns: runs },
      );
      await api.service.idle();
    },
  );

  test.each(Object.keys(routes) as RouteName[])(
    "%s refuses a body that is no object, and a request without one",
    async (name) => {
      const { method, path, request } = routes[name];
      if (method === "GET") return;
      const headers = { ...(await api.headers(path)), "content-type": "application/json" };
      for (const body of ["null", "7", '"text"', "[]", "[{}]"]) {
        const { status } = await api.raw(path, { method, headers, body });
        expect([body, status]).toEqual([body, 400]);
      }
      const { status } = await api.raw(path, { method, headers: await api.headers(path) });
      expect(status).toBe(request.safeParse({}).success ? 200 : 400);
    },
  );
});

function queryOf(body: unknown): Record<string, string> {
  if (typeof body !== "object" || body === null) return { value: String(body) };
  const entries = Object.entries(body).map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(entries.map(([key, value]) => [key, toUSVString(value as string)]));
}
