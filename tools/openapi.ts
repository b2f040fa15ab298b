import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { errorBody, limits, type Route, routes, wireSchema } from "../contract";
import { version } from "../package.json";

/** Returns the contract as an OpenAPI 3.1 document. */
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
        "Every request needs a bearer token, whose scope is the path of the operation, and the developer's API key. " +
        "x-limits lists all limits of requests. The limits on bytes and nesting are not part of the schemas.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    // When the embedded service serves this document, it inserts its own address here and into the token URL.
    servers: [
      { url: "http://127.0.0.1:8080", description: "The embedded service, started with --port 8080." },
    ],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: "oauth2",
          description:
            "The client secret is the developer's API key. The embedded service accepts any client id.",
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
        description: "Success.",
        content: { "application/json": { schema: wireSchema(route.reply) } },
      },
      "4XX": errorResponse("Rejected: what is wrong, where, and what to do."),
      "5XX": errorResponse("Failed inside the service."),
    },
  };
}

function errorResponse(description: string): ZodOpenApiOperationObject["responses"]["4XX"] {
  return { description, content: { "application/json": { schema: wireSchema(errorBody) } } };
}

if (require.main === module) {
  const file = join(__dirname, "..", "openapi.json");
  writeFileSync(file, `${JSON.stringify(openApiDocument(), null, 2)}\n`);
  console.log(`wrote ${file}: ${Object.keys(routes).length} operations`);
}
