import { limits } from "../../../contract";
import { Running } from "../running";

test("the OpenAPI document is public, and contains the addresses and request limits of the service", async () => {
  const api = await Running.start();
  const { url } = api.service;
  const { status, body } = await api.raw("/openapi.json");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    openapi: "3.1.0",
    servers: [{ url }],
    components: {
      securitySchemes: {
        token: {
          flows: {
            clientCredentials: {
              tokenUrl: `${url}/oauth/token`,
              scopes: { "/create-project": expect.any(String) },
            },
          },
        },
      },
    },
    "x-limits": limits,
  });
  expect(body.paths["/create-project"].post.security).toEqual([{ token: ["/create-project"], apiKey: [] }]);
  await api.end();
});

test("the document has an ETag, and a client with the same document gets 304", async () => {
  const api = await Running.start();
  const { answered } = await api.raw("/openapi.json");
  const etag = String(answered.etag);
  const again = await api.raw("/openapi.json", { headers: { "if-none-match": etag } });
  expect([again.status, again.text, again.answered.etag]).toEqual([304, "", etag]);
  expect((await api.raw("/openapi.json", { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  await api.end();
});
