import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyRequest } from "fastify";
import { limits } from "../contract";
import { ServiceError } from "./error";

/** Bytes of a body at most, packed and unpacked alike: the largest lawful upsert and some room around it. */
export const maxBodyBytes = limits.recordsPerUpsert * (limits.eventBytes + 1024) + 1024 * 1024;

const unpack = promisify(gunzip);

/** A body as it came and as JSON. */
export interface Body {
  readonly bytes: Buffer;
  readonly json: unknown;
}

/** The body of a JSON request, unpacked. */
export async function readJson(request: FastifyRequest, packed: Buffer): Promise<Body> {
  const bytes = await readBytes(request, packed);
  try {
    return { bytes, json: JSON.parse(bytes.toString()) };
  } catch (error) {
    throw new ServiceError("BAD_REQUEST", `The body is not JSON: ${(error as Error).message}.`);
  }
}

/** The body of a form, unpacked. */
export async function readForm(request: FastifyRequest, packed: Buffer): Promise<Body> {
  const bytes = await readBytes(request, packed);
  return { bytes, json: Object.fromEntries(new URLSearchParams(bytes.toString())) };
}

async function readBytes(request: FastifyRequest, packed: Buffer): Promise<Buffer> {
  const encoding = String(request.headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding === "identity") return packed;
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      `The Content-Encoding ${encoding} is not known; use gzip or none.`,
    );
  }
  try {
    return await unpack(packed, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
    throw new ServiceError("BAD_REQUEST", `The body is not gzip: ${(error as Error).message}.`);
  }
}

/** Says that a body is over the ceiling. */
export function tooLarge(): ServiceError {
  return new ServiceError(
    "TOO_LARGE",
    `The body is larger than ${maxBodyBytes} bytes; send it in several calls.`,
  );
}
