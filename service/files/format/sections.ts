// files/format/ is how a model is written down, for this service and for trainers of other kinds: docs/model-format.md.

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import { shortened } from "../../base/error";

/** What is wrong with a file, in words that follow "it". */
export class FormatError extends Error {
  override readonly name = "FormatError";

  /** @param remedy - what the user can do about it */
  constructor(
    message: string,
    readonly remedy = "Put it back from a backup, or train another model and delete this one.",
  ) {
    super(message);
  }
}

/** The kinds of numbers, all of them little-endian. */
const arrays = { float32: Float32Array, uint32: Uint32Array, uint8: Uint8Array };

/** A typed array of one of the kinds. */
export type Numbers = Float32Array | Uint32Array | Uint8Array;
export type Dtype = keyof typeof arrays;

/** One table of numbers, to be written. */
export interface Section {
  readonly values: Numbers;
  readonly shape: readonly number[];
}

const magic = Buffer.from("recmodel");
const preambleBytes = 48;
const alignment = 64;

/** Far above what a header needs, and far below what memory bears. */
const mostHeaderBytes = 16 * 1024 * 1024;

/** So much is handed over or read at once; Node reads no more than 2 GiB in one go. */
const pieceBytes = 8 * 1024 * 1024;

/** So much of what is only checked is in memory at once. */
const checkedBytes = 1024 * 1024;

const count = z.int().nonnegative();
const sectionSchema = z.object({
  dtype: z.enum(["float32", "uint32", "uint8"]),
  shape: z.array(count).min(1).max(2),
  offset: count,
  bytes: count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits"),
});
const sectionsSchema = z.object({ sections: z.record(z.string(), sectionSchema) });

/** The bytes of a file with this header and these sections, piece by piece. */
export function* encoded(header: object, sections: Readonly<Record<string, Section>>): Generator<Uint8Array> {
  let offset = 0;
  const described = Object.entries(sections).map(([name, { values, shape }]) => {
    const dtype = dtypeOf(values);
    const bytes = bytesOf(values);
    const at = offset;
    offset = aligned(at + bytes.length);
    return [name, { dtype, shape, offset: at, bytes: bytes.length, sha256: hash(bytes).toString("hex") }];
  });
  const text = Buffer.from(JSON.stringify({ ...header, sections: Object.fromEntries(described) }));
  const preamble = Buffer.alloc(preambleBytes);
  magic.copy(preamble);
  preamble.writeBigUInt64LE(BigInt(text.length), 8);
  hash(text).copy(preamble, 16);
  yield Buffer.concat([preamble, text, padding(preambleBytes + text.length)]);
  for (const { values } of Object.values(sections)) {
    const bytes = bytesOf(values);
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
    yield padding(bytes.length);
  }
}

/** A file in this format that is open for reading. */
export interface OpenSections {
  /** Everything in the header but the sections, not checked yet. */
  readonly header: Readonly<Record<string, unknown>>;
  /** The numbers of a section; refused where it is not there, or is of another kind, shape or content. */
  read<D extends Dtype>(
    name: string,
    dtype: D,
    shape: readonly (number | undefined)[],
  ): Promise<InstanceType<(typeof arrays)[D]>>;
  /** Checks a section in the same way without keeping it, for there may be more of it than memory holds. */
  check(name: string, dtype: Dtype, shape: readonly (number | undefined)[]): Promise<void>;
  /** Fills the numbers with those of a section from a place on; only that they lie within it is checked again. */
  fill(name: string, from: number, values: Float32Array | Uint32Array): Promise<void>;
  /** The whole numbers of a section from one place up to another; the same holds for them. */
  part(name: string, from: number, to: number): Promise<Uint32Array>;
}

/** Reads the header; nothing that a file says of itself is believed before it is held to the file's real size. */
export async function openSections(file: FileHandle): Promise<OpenSections> {
  const { size } = await file.stat();
  if (size < preambleBytes) throw new FormatError(`has only ${size} bytes, and a model has more`);
  const preamble = await read(file, 0, new Uint8Array(preambleBytes));
  if (!preamble.subarray(0, magic.length).equals(magic)) throw new FormatError("is not a model");
  const length = preamble.readBigUInt64LE(8);
  if (length > mostHeaderBytes) throw new FormatError(`says that its header has ${length} bytes`);
  if (Number(length) > size - preambleBytes) throw new FormatError(`is cut off after ${size} bytes`);
  const text = await read(file, preambleBytes, new Uint8Array(Number(length)));
  if (!hash(text).equals(preamble.subarray(16))) throw new FormatError("has an altered header");
  const { sections, ...header } = parsed(text);
  const described = sectionsSchema.safeParse({ sections });
  if (!described.success)
    throw new FormatError(`has a header that does not fit: ${faultsOf(described.error)}`);
  const begin = aligned(preambleBytes + text.length);
  const sectionOf = (name: string) => {
    const section = Object.hasOwn(described.data.sections, name) ? described.data.sections[name] : undefined;
    if (!section) throw new FormatError(`has no section ${name}`);
    return section;
  };
  const describedAs = (name: string, dtype: Dtype, shape: readonly (number | undefined)[]) => {
    const section = sectionOf(name);
    const given = `${section.dtype} [${section.shape.join(", ")}]`;
    const fits =
      section.shape.length === shape.length &&
      shape.every((length, at) => length === undefined || length === section.shape[at]);
    if (section.dtype !== dtype || !fits) {
      const wanted = `${dtype} [${shape.map((length) => length ?? "any").join(", ")}]`;
      throw new FormatError(`has a section ${name} of ${given} and not of ${wanted}`);
    }
    const length = section.shape.reduce((product, one) => product * one, 1);
    const width = arrays[dtype].BYTES_PER_ELEMENT;
    if (section.bytes !== length * width || section.offset % alignment !== 0)
      throw new FormatError(`has a section ${name} whose offset or bytes do not fit its shape ${given}`);
    if (section.bytes > size - begin - section.offset)
      throw new FormatError(`is cut off after ${size} bytes, in or before its section ${name}`);
    return { ...section, length };
  };
  const placeOf = (name: string, from: number, to: number) => {
    const { dtype, offset, bytes } = sectionOf(name);
    const width = arrays[dtype].BYTES_PER_ELEMENT;
    if (from > to || to * width > Math.min(bytes, size - begin - offset))
      throw new FormatError(`has a section ${name} without the numbers from ${from} to ${to}`);
    return begin + offset + from * width;
  };
  const holdTo = (sha256: string, sum: Buffer, name: string) => {
    if (sum.toString("hex") !== sha256)
      throw new FormatError(`has an altered section ${name}: its SHA-256 is another one`);
  };
  return {
    header,
    read: async (name, dtype, shape) => {
      const { offset, length, sha256 } = describedAs(name, dtype, shape);
      const values = new arrays[dtype](length);
      const bytes = await read(file, begin + offset, bytesOf(values));
      holdTo(sha256, hash(bytes), name);
      return values as InstanceType<(typeof arrays)[typeof dtype]>;
    },
    check: async (name, dtype, shape) => {
      const { offset, bytes, sha256 } = describedAs(name, dtype, shape);
      const piece = new Uint8Array(Math.min(bytes, checkedBytes));
      const sum = createHash("sha256");
      for (let at = 0; at < bytes; at += piece.length) {
        const part = piece.subarray(0, bytes - at);
        sum.update(await read(file, begin + offset + at, part));
      }
      holdTo(sha256, sum.digest(), name);
    },
    fill: async (name, from, values) => {
      await read(file, placeOf(name, from, from + values.length), bytesOf(values));
    },
    part: async (name, from, to) => {
      const place = placeOf(name, from, to);
      const values = new Uint32Array(to - from);
      await read(file, place, bytesOf(values));
      return values;
    },
  };
}

/** What does not fit, in one line. */
export function faultsOf({ issues }: z.ZodError): string {
  return shortened(issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
}

function parsed(text: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.toString());
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new FormatError("has a header that is no JSON object");
}

/** Fills the bytes from a place in the file. */
async function read(file: FileHandle, position: number, bytes: Uint8Array): Promise<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(pieceBytes, bytes.length - at), position + at);
    if (bytesRead === 0) throw new FormatError(`is cut off after ${position + at} bytes`);
    at += bytesRead;
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function dtypeOf(values: Numbers): Dtype {
  if (values instanceof Float32Array) return "float32";
  return values instanceof Uint32Array ? "uint32" : "uint8";
}

function bytesOf({ buffer, byteOffset, byteLength }: Numbers): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function hash(bytes: Uint8Array): Buffer {
  const sum = createHash("sha256");
  for (let at = 0; at < bytes.length; at += pieceBytes) sum.update(bytes.subarray(at, at + pieceBytes));
  return sum.digest();
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

function padding(bytes: number): Uint8Array {
  return new Uint8Array(aligned(bytes) - bytes);
}

/** The rows, filled up with zeros to another length. */
export function widened(values: Float32Array, count: number, from: number, to: number): Float32Array {
  if (from === to) return values;
  const out = new Float32Array(count * to);
  for (let row = 0; row < count; row++) out.set(values.subarray(row * from, (row + 1) * from), row * to);
  return out;
}
