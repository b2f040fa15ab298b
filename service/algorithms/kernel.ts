import { sharedWasm, wasm } from "./kernel/wasm";

/** What the kernel does; all places are those in its memory. */
export interface KernelExports {
  addGram(rows: number, count: number, stride: number, matrix: number): void;
  solve(matrix: number, right: number, stride: number, solution: number): void;
  solveRows(
    start: number,
    index: number,
    weight: number,
    /** 0 where it is the weight. */
    right: number,
    from: number,
    to: number,
    solved: number,
    fixed: number,
    stride: number,
    base: number,
    ridge: number,
    scratch: number,
    chunk: number,
    /** 0 to solve all rows exactly. */
    steps: number,
    turn: number,
  ): void;
  rotate(rows: number, count: number, stride: number, matrix: number, scratch: number): void;
  scores(rows: number, count: number, stride: number, vector: number, out: number): void;
  rotatePair(a: number, b: number, length: number, cosine: number, sine: number): void;
  products(rows: number, count: number, stride: number, vector: number, length: number, out: number): void;
  subtractMultiples(
    rows: number,
    count: number,
    stride: number,
    factors: number,
    vector: number,
    length: number,
  ): void;
  meet(
    index: number,
    from: number,
    to: number,
    step: number,
    value: number,
    sums: number,
    met: number,
    count: number,
  ): number;
  addEntries(rows: number, count: number, start: number, index: number, values: number, out: number): void;
}

/** The memory of a kernel. */
export interface KernelMemory {
  readonly buffer: ArrayBufferLike;
}

// Declared here because neither the ES library nor the types of Node 20 know the engine's global.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (size: { initial: number; maximum?: number; shared?: boolean }) => KernelMemory;
  Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

const compiled = new Map<string, object>();

function instanceOf(binary: string, memory: KernelMemory): KernelExports {
  const known = compiled.get(binary) ?? new WebAssembly.Module(Buffer.from(binary, "base64"));
  compiled.set(binary, known);
  return new WebAssembly.Instance(known, { env: { memory } }).exports as KernelExports;
}

/** The kernel on a memory that another thread has made and filled. */
export function kernelOn(memory: KernelMemory): KernelExports {
  return instanceOf(sharedWasm, memory);
}

/** WebAssembly addresses memory with 32 bits. */
const mostBytes = 2 ** 32;

/** Thrown for a model that needs more memory than a kernel can have; no other attempt succeeds. */
export class TooLargeError extends Error {
  override readonly name = "TooLargeError";

  constructor(bytes: number) {
    super(
      `The model needs ${(bytes / 2 ** 30).toFixed(1)} GiB of memory at once, and 4 GiB is the limit. ` +
        "Set fewer dimensions, or train with fewer users and items.",
    );
  }
}

/** The SIMD kernel with a memory of fixed size from which arrays are handed out one after another. */
export class Kernel {
  readonly run: KernelExports;
  readonly memory: KernelMemory;
  private used = 0;

  constructor(bytes: number, { shared = false } = {}) {
    if (bytes > mostBytes) throw new TooLargeError(bytes);
    const initial = Math.ceil(bytes / 65536);
    this.memory = new WebAssembly.Memory(shared ? { initial, maximum: initial, shared } : { initial });
    this.run = instanceOf(shared ? sharedWasm : wasm, this.memory);
  }

  /** Room for floats, zero at first. */
  floats(length: number): Float32Array {
    return new Float32Array(this.memory.buffer, this.take(length), length);
  }

  /** Room for whole numbers, zero at first. */
  integers(length: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, this.take(length), length);
  }

  /** Room for floats of double precision, zero at first. */
  doubles(length: number): Float64Array {
    return new Float64Array(this.memory.buffer, this.take(2 * length), length);
  }

  private take(length: number): number {
    const at = this.used;
    this.used += arrayBytes(length);
    return at;
  }
}

/** Bytes that an array of so many 4-byte numbers takes of a kernel's memory. */
export function arrayBytes(length: number): number {
  return Math.ceil(length / 4) * 16;
}

/** Floats from one vector to the next: the kernel works on multiples of 8, the rest is zero. */
export function strideOf(dimensions: number): number {
  return Math.ceil(dimensions / 8) * 8;
}

/** Rows rounded up so that the kernel's scores, which come four at a time, stay inside the array. */
export function paddedRows(rows: number): number {
  return Math.ceil(rows / 4) * 4;
}
