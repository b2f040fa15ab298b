import { limits } from "../../contract";
import { ServiceError } from "../base/error";
import { createYielder } from "../base/event-loop";

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Bytes that are scanned or parsed at a time. Between steps, other calls can run. */
export const stepBytes = 64 * 1024;

/** Nesting depth of a record: `{"events": [RECORD]}`. */
const recordDepth = 3;

/** Estimates the cost of parsing a JSON body, and rejects an expensive body before it is parsed. */
export class JsonScan {
  /** Approximate number of keys and values: the commas and colons outside of strings. */
  values = 0;
  /** Start and end of each record. A record is an array or object in a list of the top-level object. */
  readonly records: number[] = [];
  private outside = 0;
  private recordStart = 0;
  private recordValues = 0;
  private depth = 0;
  private deepest = 0;
  private inText = false;
  private isEscaped = false;
  private readonly opened: number[] = [];

  constructor(private readonly bytes: Buffer) {}

  /** Scans a part of the body. Parts must be scanned in order. */
  scan(from: number, to: number): void {
    const { bytes } = this;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] as number;
      if (this.inText) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === backslash) this.isEscaped = true;
        else if (byte === quote) this.inText = false;
      } else if (byte === quote) this.inText = true;
      else if (byte === comma || byte === colon) this.countValue();
      else if (byte === openArray || byte === openObject) this.open(byte, at);
      else if (byte === closeArray || byte === closeObject) this.close(at);
    }
    this.refuseCostly();
  }

  private countValue(): void {
    this.values++;
    if (this.depth >= recordDepth && this.isInList()) this.recordValues++;
    else this.outside++;
  }

  private open(byte: number, at: number): void {
    if (this.depth < recordDepth) this.opened[this.depth] = byte;
    this.depth++;
    this.deepest = Math.max(this.deepest, this.depth);
    if (this.depth !== recordDepth || !this.isInList()) return;
    this.recordStart = at;
    this.refuseLong();
    this.recordValues = 0;
  }

  private close(at: number): void {
    if (this.depth === recordDepth && this.isInList()) this.records.push(this.recordStart, at + 1);
    this.depth--;
  }

  private isInList(): boolean {
    return this.opened[0] === openObject && this.opened[1] === openArray;
  }

  private refuseLong(): void {
    if (Math.max(this.recordValues, this.outside) > limits.recordValues)
      throw new ServiceError(
        "TOO_LARGE",
        `A record of the body, or the body without its records, has more than ${limits.recordValues} keys and values. Send less.`,
      );
  }

  private refuseCostly(): void {
    if (this.deepest > limits.bodyDepth)
      throw new ServiceError(
        "BAD_REQUEST",
        `The body nests arrays and objects deeper than ${limits.bodyDepth} levels. Make it flatter.`,
      );
    this.refuseLong();
    if (this.values > limits.bodyValues)
      throw new ServiceError(
        "TOO_LARGE",
        `The body has more than ${limits.bodyValues} keys and values. Split it into several calls.`,
      );
  }
}

/** Scans a body in steps. */
export async function scanInSteps(bytes: Buffer): Promise<JsonScan> {
  const scan = new JsonScan(bytes);
  const yieldIfBusy = createYielder();
  for (let from = 0; from < bytes.length; from += stepBytes) {
    scan.scan(from, Math.min(from + stepBytes, bytes.length));
    await yieldIfBusy();
  }
  return scan;
}

/**
 * Parses a scanned body record by record, so a large one does not block other calls.
 * First the body is parsed with `[NUMBER]` in place of each record. Then the records are parsed and inserted.
 */
export async function parseInSteps(bytes: Buffer, { records }: JsonScan): Promise<unknown> {
  const pieces: string[] = [];
  let end = 0;
  for (let at = 0; at < records.length; at += 2) {
    pieces.push(bytes.toString("utf8", end, records[at]), `[${at}]`);
    end = records[at + 1] as number;
  }
  const body: unknown = JSON.parse(pieces.join("") + bytes.toString("utf8", end));
  if (records.length === 0) return body;
  const yieldIfBusy = createYielder();
  for (const list of Object.values(body as object)) {
    if (!Array.isArray(list)) continue;
    for (const [index, value] of list.entries()) {
      if (!Array.isArray(value)) continue;
      const at = value[0] as number;
      list[index] = JSON.parse(bytes.toString("utf8", records[at], records[at + 1]));
      await yieldIfBusy();
    }
  }
  return body;
}
