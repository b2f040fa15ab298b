import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyRequest } from "fastify";
import { limits } from "../../contract";
import { ServiceError } from "../base/error";

const unpack = promisify(gunzip);

/** A body as it came and as JSON. */
export interface Body {
  readonly bytes: Buffer;
  readonly json: unknown;
}

/** The body of a JSON request, unpacked. */
export async function readJson(request: FastifyRequest, packed: Buffer): Promise<Body> {
  const bytes = await readBytes(request, packed);
  refuseCostly(bytes);
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

/** Refuses a body that is packed: anybody may send one here, and a small one could grow large. */
export async function refusePacked({ headers }: FastifyRequest): Promise<void> {
  if ((headers["content-encoding"] ?? "identity").toLowerCase() !== "identity")
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "Send this request without Content-Encoding.");
}

/** Says that a body is over the limit of its operation. */
export function tooLarge({ routeOptions }: FastifyRequest): ServiceError {
  const most = routeOptions.bodyLimit;
  const fix = most === limits.upsertBytes ? "; send it in several calls" : ", the most for this operation";
  return new ServiceError("TOO_LARGE", `The body is larger than ${most} bytes${fix}.`);
}

async function readBytes(request: FastifyRequest, packed: Buffer): Promise<Buffer> {
  const [, charset = "utf-8"] =
    /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers["content-type"] ?? "") ?? [];
  if (!/^utf-?8$/i.test(charset)) {
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", `The charset ${charset} is not known; send UTF-8.`);
  }
  const bytes = await unpacked(request, packed);
  if (!isUtf8(bytes)) throw new ServiceError("BAD_REQUEST", "The body is not UTF-8; send it as UTF-8.");
  return bytes;
}

async function unpacked(request: FastifyRequest, packed: Buffer): Promise<Buffer> {
  const encoding = String(request.headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding === "identity") return packed;
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      `The Content-Encoding ${encoding} is not known; use gzip or none.`,
    );
  }
  try {
    return await unpack(packed, { maxOutputLength: request.routeOptions.bodyLimit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(request);
    throw new ServiceError("BAD_REQUEST", `The body is not gzip: ${(error as Error).message}.`);
  }
}

const [quote, backslash] = [0x22, 0x5c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Refuses JSON that is too deep or has too many parts; found without parsing, which would take seconds. */
function refuseCostly(bytes: Buffer): void {
  let depth = 0;
  let deepest = 0;
  let objects = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openArray || byte === openObject) {
      objects++;
      deepest = Math.max(deepest, ++depth);
    } else if (byte === closeArray || byte === closeObject) depth--;
  }
  if (deepest > limits.bodyDepth) {
    throw new ServiceError(
      "BAD_REQUEST",
      `The body nests arrays and objects deeper than ${limits.bodyDepth} levels; make it flatter.`,
    );
  }
  if (objects > limits.bodyObjects) {
    throw new ServiceError(
      "TOO_LARGE",
      `The body has more than ${limits.bodyObjects} arrays and objects; send it in several calls.`,
    );
  }
}
