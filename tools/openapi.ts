import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { errorBody, limits, type Route, routes, wireSchema } from "../contract";
import { version } from "../package.json";

/** The contract as an OpenAPI 3.1 document. */
export function openApiDocument(): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, route] of Object.entries(routes)) {
    paths[route.path] = { [route.method.toLowerCase()]: operation(name, route) };
  }
  const scopes = Object.fromEntries(Object.values(routes).map((route) => [route.path, route.summary]));
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Recommendation service",
      version,
      description:
        "Datasets, projects, algorithms, models, jobs and recommendations. " +
        "Every call carries a bearer token whose scope is the path of the operation, and the developer's key. " +
        "x-limits holds every limit of a request by its name; those in bytes and levels stand there alone.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    // The embedded service puts its own address here and before the token's when it serves the document.
    servers: [
      { url: "http://127.0.0.1:8080", description: "The embedded service, started with --port 8080." },
    ],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: "oauth2",
          description: "The client secret is the developer's key; the embedded service takes any client id.",
          flows: { clientCredentials: { tokenUrl: "/oauth/token", scopes } },
        },
        apiKey: { type: "apiKey", in: "header", name: "APIKey" },
      },
    },
    "x-limits": limits,
  });
}

function operation(name: string, route: Route): ZodOpenApiOperationObject {
  const request = wireSchema(route.request);
  return {
    operationId: name,
    summary: route.summary,
    security: [{ token: [route.path], apiKey: [] }],
    ...(route.method === "GET"
      ? { requestParams: { query: request as z.ZodObject } }
      : { requestBody: { required: true, content: { "application/json": { schema: request } } } }),
    ...(route.headers && { requestParams: { header: route.headers } }),
    responses: {
      "200": {
        description: "Carried out.",
        content: { "application/json": { schema: wireSchema(route.reply) } },
      },
      "4XX": refused("Refused: what is wrong, where, and what to do."),
      "5XX": refused("Failed inside the service."),
    },
  };
}

function refused(description: string): ZodOpenApiOperationObject["responses"]["4XX"] {
  return { description, content: { "application/json": { schema: wireSchema(errorBody) } } };
}

if (require.main === module) {
  const file = join(__dirname, "..", "openapi.json");
  writeFileSync(file, `${JSON.stringify(openApiDocument(), null, 2)}\n`);
  console.log(`wrote ${file}: ${Object.keys(routes).length} operations`);
}
