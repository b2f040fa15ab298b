import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** How long a browser may keep the answer to a preflight request. Chromium keeps it for two hours at most. */
const preflightSec = 2 * 60 * 60;

/**
 * Lets the page of any origin read the answer to a call without an `Authorization` header. That is safe: without that
 * header, only a public key gets recommendations, and a public key is bound to its origins. All other answers are
 * errors, which the page needs to find out why its call was refused.
 */
export function allowPages({ headers }: FastifyRequest, reply: FastifyReply): void {
  reply.header("vary", "Origin");
  const { origin, authorization } = headers;
  if (origin === undefined || authorization !== undefined) return;
  reply.headers({
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "retry-after, x-request-id",
  });
}

/**
 * Answers the requests that a browser sends before a call to another origin. A page may send a key, but no token, so
 * it cannot use the secret of another client.
 */
export function addPreflight(app: FastifyInstance, url: string): void {
  // Answered in a hook, because nobody has to read a body.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    allowPages(request, reply);
    reply.headers({
      allow: "POST, OPTIONS",
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "apikey, content-type",
      "access-control-max-age": String(preflightSec),
    });
    return reply.code(204).send();
  };
  app.options(url, { config: { operation: "other" }, onRequest }, async () => undefined);
}
