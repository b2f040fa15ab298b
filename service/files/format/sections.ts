// files/format/ reads and writes the file format of models, which other trainers use too: docs/model-format.md.

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import { shortened } from "../../base/error";

/** A fault in a model's file. The message completes a sentence that begins with "it". */
export class FormatError extends Error {
  override readonly name = "FormatError";

  /** @param remedy - what the user can do about the fault */
  constructor(
    message: string,
    readonly remedy = "Restore it from a backup, or train another model and delete this one.",
  ) {
    super(message);
  }
}

/** Types of numbers in a file, all little-endian. */
const arrays = { float32: Float32Array, uint32: Uint32Array, uint8: Uint8Array };

/** A typed array of one of these types. */
export type Numbers = Float32Array | Uint32Array | Uint8Array;
export type Dtype = keyof typeof arrays;

/** A table of numbers to write. */
export interface Section {
  readonly values: Numbers;
  readonly shape: readonly number[];
}

const magic = Buffer.from("recmodel");
const preambleBytes = 48;
const alignment = 64;

/** Maximum size of a header. Real headers are far smaller, and this size still fits into memory. */
const maxHeaderBytes = 16 * 1024 * 1024;

/** Bytes to write or read at once. Node cannot read more than 2 GiB at once. */
const pieceBytes = 8 * 1024 * 1024;

/** Bytes that are in memory at once while a section is only checked. */
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

/** Encodes a header and sections as a file, in pieces. */
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

/** An open file in this format. */
export interface OpenSections {
  /** The header without the sections. Not validated yet. */
  readonly header: Readonly<Record<string, unknown>>;
  /** Reads a section. Throws if it is missing, has another type or shape, or does not match its hash. */
  read<D extends Dtype>(
    name: string,
    dtype: D,
    shape: readonly (number | undefined)[],
  ): Promise<InstanceType<(typeof arrays)[D]>>;
  /** Checks a section like `read`, in parts, because it may not fit into memory. */
  check(name: string, dtype: Dtype, shape: readonly (number | undefined)[]): Promise<void>;
  /** Fills an array from a section, starting at `from`. Checks only that the range is within the section. */
  fill(name: string, from: number, values: Float32Array | Uint32Array): Promise<void>;
  /** Reads a range of a section of integers. Checks only that the range is within the section. */
  part(name: string, from: number, to: number): Promise<Uint32Array>;
}

/** Opens a file: reads its header, and returns functions that read its sections. */
export async function openSections(file: FileHandle): Promise<OpenSections> {
  const layout = await readLayout(file);
  const { header, begin } = layout;
  return {
    header,
    read: async (name, dtype, shape) => {
      const { offset, length, sha256 } = checkedSection(layout, name, dtype, shape);
      const values = new arrays[dtype](length);
      const bytes = await read(file, begin + offset, bytesOf(values));
      checkHash(sha256, hash(bytes), name);
      return values as InstanceType<(typeof arrays)[typeof dtype]>;
    },
    check: async (name, dtype, shape) => {
      const { offset, bytes, sha256 } = checkedSection(layout, name, dtype, shape);
      const piece = new Uint8Array(Math.min(bytes, checkedBytes));
      const sum = createHash("sha256");
      for (let at = 0; at < bytes; at += piece.length) {
        const part = piece.subarray(0, bytes - at);
        sum.update(await read(file, begin + offset + at, part));
      }
      checkHash(sha256, sum.digest(), name);
    },
    fill: async (name, from, values) => {
      await read(file, positionOf(layout, name, from, from + values.length), bytesOf(values));
    },
    part: async (name, from, to) => {
      const position = positionOf(layout, name, from, to);
      const values = new Uint32Array(to - from);
      await read(file, position, bytesOf(values));
      return values;
    },
  };
}

/** Header of a file, and the positions of its sections. */
interface Layout {
  readonly header: Readonly<Record<string, unknown>>;
  readonly sections: z.output<typeof sectionsSchema>["sections"];
  /** Size of the file in bytes. */
  readonly size: number;
  /** Position of the first section. */
  readonly begin: number;
}

/** Reads the header. Every length in it is checked against the size of the file before it is used. */
async function readLayout(file: FileHandle): Promise<Layout> {
  const { size } = await file.stat();
  if (size < preambleBytes) throw new FormatError(`has only ${size} bytes, which is too short for a model`);
  const preamble = await read(file, 0, new Uint8Array(preambleBytes));
  if (!preamble.subarray(0, magic.length).equals(magic)) throw new FormatError("is not a model");
  const length = preamble.readBigUInt64LE(8);
  if (length > maxHeaderBytes) throw new FormatError(`has a header of ${length} bytes, which is too long`);
  if (Number(length) > size - preambleBytes) throw new FormatError(`is cut off after ${size} bytes`);
  const text = await read(file, preambleBytes, new Uint8Array(Number(length)));
  if (!hash(text).equals(preamble.subarray(16))) throw new FormatError("has an altered header");
  const { sections, ...header } = parsed(text);
  const described = sectionsSchema.safeParse({ sections });
  if (!described.success) throw new FormatError(`has an invalid header: ${faultsOf(described.error)}`);
  return { header, sections: described.data.sections, size, begin: aligned(preambleBytes + text.length) };
}

function sectionOf({ sections }: Layout, name: string) {
  const section = Object.hasOwn(sections, name) ? sections[name] : undefined;
  if (!section) throw new FormatError(`has no section ${name}`);
  return section;
}

/** Returns a section after checking its type, shape, size and offset. */
function checkedSection(layout: Layout, name: string, dtype: Dtype, shape: readonly (number | undefined)[]) {
  const section = sectionOf(layout, name);
  const given = `${section.dtype} [${section.shape.join(", ")}]`;
  const fits =
    section.shape.length === shape.length &&
    shape.every((length, at) => length === undefined || length === section.shape[at]);
  if (section.dtype !== dtype || !fits) {
    const wanted = `${dtype} [${shape.map((length) => length ?? "any").join(", ")}]`;
    throw new FormatError(`has a section ${name} of type ${given} instead of ${wanted}`);
  }
  const length = section.shape.reduce((product, one) => product * one, 1);
  if (section.bytes !== length * arrays[dtype].BYTES_PER_ELEMENT)
    throw new FormatError(
      `has a section ${name} of ${section.bytes} bytes, which does not fit its shape ${given}`,
    );
  if (section.offset % alignment !== 0)
    throw new FormatError(`has a section ${name} whose offset is not a multiple of ${alignment}`);
  if (section.bytes > layout.size - layout.begin - section.offset)
    throw new FormatError(`is cut off after ${layout.size} bytes, in or before its section ${name}`);
  return { ...section, length };
}

/** Returns where a range of a section begins in the file. */
function positionOf(layout: Layout, name: string, from: number, to: number): number {
  const { dtype, offset, bytes } = sectionOf(layout, name);
  const width = arrays[dtype].BYTES_PER_ELEMENT;
  if (from > to || to * width > Math.min(bytes, layout.size - layout.begin - offset))
    throw new FormatError(`has a section ${name} that does not cover the range ${from} to ${to}`);
  return layout.begin + offset + from * width;
}

function checkHash(expected: string, sum: Buffer, name: string): void {
  if (sum.toString("hex") !== expected)
    throw new FormatError(`has an altered section ${name}: its SHA-256 does not match`);
}

/** Describes validation errors in one line. */
export function faultsOf({ issues }: z.ZodError): string {
  return shortened(issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
}

function parsed(text: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.toString());
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new FormatError("has a header that is not a JSON object");
}

/** Fills an array from a position in the file. */
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

/** Pads each row with zeros to a new length. */
export function widened(values: Float32Array, count: number, from: number, to: number): Float32Array {
  if (from === to) return values;
  const out = new Float32Array(count * to);
  for (let row = 0; row < count; row++) out.set(values.subarray(row * from, (row + 1) * from), row * to);
  return out;
}
