import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { errorBody, type Route, routes, wireSchema } from "../contract";
import { version } from "../package.json";

/** The contract as an OpenAPI 3.1 document. */
export function openApiDocument(): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, route] of Object.entries(routes)) {
    paths[route.path] = { [route.method.toLowerCase()]: operation(name, route) };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Recommendation service",
      version,
      description:
        "Datasets, projects, algorithms, models, jobs and recommendations. " +
        "Every call carries a bearer token whose scope is the path of the operation, and the developer's key.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ bearer: [], apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "APIKey" },
      },
    },
  });
}

function operation(name: string, route: Route): ZodOpenApiOperationObject {
  const request = wireSchema(route.request);
  return {
    operationId: name,
    summary: route.summary,
    ...(route.method === "GET"
      ? { requestParams: { query: request as z.ZodObject } }
      : { requestBody: { required: true, content: { "application/json": { schema: request } } } }),
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
