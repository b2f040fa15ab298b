import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyRequest } from "fastify";
import { limits } from "../../contract";
import { Budget } from "../base/budget";
import { ServiceError } from "../base/error";
import { JsonScan, parseInSteps, scanInSteps, stepBytes } from "./json-scan";

const unpack = promisify(gunzip);

/** The bytes and the JSON of a body. */
export interface Body {
  readonly bytes: Buffer;
  readonly json: unknown;
}

/** Maximum number of received bytes of all calls that have no response yet. */
const mostReceived = 96 * 1024 * 1024;

/** Maximum memory of all bodies, from decompression until the response. */
const mostHandled = 192 * 1024 * 1024;

/** Estimated memory of a parsed key or value. */
const valueBytes = 64;

type Coding = "identity" | "gzip";

/** Reads the bodies of calls within a common memory limit. */
export class Bodies {
  private readonly received = new Budget(mostReceived);
  private readonly handled = new Budget(mostHandled);
  /** Reserved bytes of each call. Small bodies reserve none. */
  private readonly reserved = new WeakMap<FastifyRequest, { received: number; handled: number }>();
  /** Limits of calls whose bodies must be smaller than those of other calls of the operation. */
  private readonly restricted = new WeakMap<FastifyRequest, number>();

  /** Lowers the maximum number of bytes of a call's body. */
  restrict(request: FastifyRequest, bytes: number): void {
    this.restricted.set(request, bytes);
  }

  /** Reads a JSON body, which may be compressed. A large one waits for memory and is parsed in steps. */
  async readJson(request: FastifyRequest, payload: Readable): Promise<Body> {
    const coding = codingOf(request);
    const packed = await this.receive(request, payload);
    try {
      if (coding === "gzip" || packed.length > stepBytes)
        return await this.readLarge(request, packed, coding);
      refuseInvalidUtf8(packed);
      new JsonScan(packed).scan(0, packed.length);
      return { bytes: packed, json: JSON.parse(packed.toString()) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new ServiceError("BAD_REQUEST", `The body is not JSON: ${error.message}.`);
    }
  }

  /** Reads the body of a form. */
  async readForm(request: FastifyRequest, payload: Readable): Promise<Body> {
    codingOf(request);
    const bytes = await this.receive(request, payload);
    refuseInvalidUtf8(bytes);
    return { bytes, json: Object.fromEntries(new URLSearchParams(bytes.toString())) };
  }

  /** Releases the memory of a call's body after the response. */
  release(request: FastifyRequest): void {
    const reserved = this.reserved.get(request);
    if (!reserved) return;
    this.reserved.delete(request);
    this.received.release(reserved.received);
    this.handled.release(reserved.handled);
  }

  private async readLarge(request: FastifyRequest, packed: Buffer, coding: Coding): Promise<Body> {
    const reserved = this.reservedBy(request);
    const limit = this.limitOf(request);
    const most = coding === "gzip" ? limit : packed.length;
    // The cost is known only after decompression and scanning. Until then, the worst case is reserved.
    const worst = costOf(most, Math.min(most / 2, limits.bodyValues));
    await this.handled.reserve(worst);
    reserved.handled = worst;
    const bytes = coding === "gzip" ? await unpacked(packed, limit) : packed;
    refuseInvalidUtf8(bytes);
    const scan = await scanInSteps(bytes);
    reserved.handled = Math.min(worst, costOf(bytes.length, scan.values));
    this.handled.release(worst - reserved.handled);
    return { bytes, json: await parseInSteps(bytes, scan) };
  }

  /** Reads the bytes of a body within the limits of its operation and of the service. */
  private receive(request: FastifyRequest, payload: Readable): Promise<Buffer> {
    const most = this.limitOf(request);
    if (Number(request.headers["content-length"]) > most) return Promise.reject(tooLarge(most));
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let length = 0;
      const end = (error?: Error | null) => {
        payload.off("data", take).off("end", finish).off("error", end).off("close", cut);
        // Discards the rest of the body. Otherwise, a client that is still sending would never read the error.
        if (error) payload.resume();
        if (error) reject(error);
        // Copies even a single chunk, because it may be a view of the connection's buffer.
        else resolve(Buffer.concat(chunks, length));
      };
      const take = (chunk: Buffer) => {
        length += chunk.length;
        if (length > most) return end(tooLarge(most));
        if (length > stepBytes && !this.reserveReceived(request, length)) return end(tooBusy());
        chunks.push(chunk);
      };
      const finish = () => end();
      const cut = () =>
        end(new ServiceError("BAD_REQUEST", "The connection was closed before the whole body arrived."));
      payload.on("data", take).on("end", finish).on("error", end).on("close", cut);
    });
  }

  private limitOf(request: FastifyRequest): number {
    return this.restricted.get(request) ?? (request.routeOptions.bodyLimit as number);
  }

  private reserveReceived(request: FastifyRequest, length: number): boolean {
    const reserved = this.reservedBy(request);
    const isFree = this.received.tryReserve(length - reserved.received);
    if (isFree) reserved.received = length;
    return isFree;
  }

  private reservedBy(request: FastifyRequest): { received: number; handled: number } {
    const known = this.reserved.get(request);
    if (known) return known;
    const none = { received: 0, handled: 0 };
    this.reserved.set(request, none);
    return none;
  }
}

function costOf(bytes: number, values: number): number {
  return Math.ceil(bytes + values * valueBytes);
}

/** Rejects a compressed body on routes without authentication, because it could decompress to a large one. */
export async function refusePacked({ headers }: FastifyRequest): Promise<void> {
  if ((headers["content-encoding"] ?? "identity").toLowerCase() !== "identity")
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "Send this request without Content-Encoding.");
}

/** Creates the error for a body of more than `most` bytes. */
export function tooLarge(most: number): ServiceError {
  const fix =
    {
      [limits.upsertBytes]: ". Split it into several calls",
      [limits.pageBytes]: ", the limit for calls with a public key",
    }[most] ?? ", the limit for this operation";
  return new ServiceError("TOO_LARGE", `The body is larger than ${most} bytes${fix}.`);
}

function tooBusy(): ServiceError {
  return new ServiceError(
    "UNAVAILABLE",
    "The service is receiving too many large bodies at once, and has not processed this one. Call again.",
    { headers: { "retry-after": "1" } },
  );
}

function codingOf({ headers }: FastifyRequest): Coding {
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers["content-type"] ?? "") ?? [];
  if (!/^utf-?8$/i.test(charset))
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", `The charset ${charset} is not supported. Send UTF-8.`);
  const encoding = String(headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding === "identity") return encoding;
  if (encoding === "gzip" || encoding === "x-gzip") return "gzip";
  throw new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    `The Content-Encoding ${encoding} is not supported. Use gzip or none.`,
  );
}

function refuseInvalidUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes))
    throw new ServiceError("BAD_REQUEST", "The body is not valid UTF-8. Encode it as UTF-8.");
}

async function unpacked(packed: Buffer, most: number): Promise<Buffer> {
  try {
    return await unpack(packed, { maxOutputLength: most });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(most);
    throw new ServiceError("BAD_REQUEST", `The body is not gzip: ${(error as Error).message}.`);
  }
}
