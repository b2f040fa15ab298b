import fc from "fast-check";
import { errorBody, type RouteName, routes, wireSchema } from "../../../contract";
import { Running } from "../running";
import { openShop } from "../shop";
import { fieldsOf, nearly, queryOf } from "./odd-requests";

const runs = Number(process.env.BAD_INPUTS ?? 40);

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
      const keys = fieldsOf(name);
      const own = Object.fromEntries(Object.entries(ids).filter(([key]) => keys.includes(key)));
      const headers = { ...(await api.headers(route.path)), "content-type": "application/json" };
      await fc.assert(
        fc.asyncProperty(nearly(own, [...keys, "user_id", "attribute", "value"]), async (body) => {
          const text = JSON.stringify(body);
          const answer =
            route.method === "GET"
              ? await api.raw(`${route.path}?${queryOf(body)}`, { headers })
              : await api.raw(route.path, { method: route.method, headers, body: text });
          if (answer.status === 200) wireSchema(route.reply).parse(answer.body);
          else {
            expect([400, 404, 409, 431]).toContain(answer.status);
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
    "%s rejects a body that is no object, and a request without one",
    async (name) => {
      const { method, path, request } = routes[name];
      if (method === "GET") return;
      const headers = { ...(await api.headers(path)), "content-type": "application/json" };
      for (const body of ["null", "7", '"text"', "[]", "[{}]"]) {
        const { status } = await api.raw(path, { method, headers, body });
        expect([body, status]).toEqual([body, 400]);
      }
      const { status } = await api.raw(path, { method, headers: await api.headers(path) });
      // The handler of this call requires one of two fields.
      const isValid = name !== "recommendItemsToUser" && request.safeParse({}).success;
      expect(status).toBe(isValid ? 200 : 400);
    },
  );
});
