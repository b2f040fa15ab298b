import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../base/error";
import { buildDirectory } from "../base/package-paths";

/** Allows only the page's own files: no inline scripts, nothing from other sites, no embedding in another page. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const headers = {
  "content-security-policy": contentSecurityPolicy,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer | undefined;
}

let assets: Promise<Map<string, Asset>> | undefined;

/**
 * Sends a file of the page. Names of files other than index.html contain a content hash, so browsers cache them for a
 * year.
 */
export async function sendPage(
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  assets ??= readAssets();
  const asset = (await assets).get(name);
  if (!asset) throw new ServiceError("NOT_FOUND", "The console has no such file.");
  const isGzipped = asset.gzipped && /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  return reply
    .headers({
      ...headers,
      "content-type": asset.type,
      "cache-control": name === "index.html" ? "no-cache" : "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(isGzipped && { "content-encoding": "gzip" }),
    })
    .send(isGzipped ? asset.gzipped : asset.plain);
}

async function readAssets(): Promise<Map<string, Asset>> {
  const dataDirectory = buildDirectory("console");
  const names = await readdir(dataDirectory);
  const plain = names.filter((name) => !name.endsWith(".gz"));
  return new Map(
    plain.map((name) => {
      const read = (file: string) => readFileSync(join(dataDirectory, file));
      const gzipped = names.includes(`${name}.gz`) ? read(`${name}.gz`) : undefined;
      return [
        name,
        { type: types[name.split(".").at(-1) ?? ""] ?? "text/plain", plain: read(name), gzipped },
      ];
    }),
  );
}
