import { sharedWasm, wasm } from "./kernel/wasm";

/** Functions of the WebAssembly kernel. Arrays are passed as addresses in its memory. See kernel/kernel.as. */
export interface KernelExports {
  addGram(rows: number, count: number, stride: number, matrix: number): void;
  solve(matrix: number, right: number, stride: number, solution: number): void;
  solveRows(
    start: number,
    index: number,
    weight: number,
    /** 0 to use the weights. */
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
    rotation: number,
  ): void;
  rotate(rows: number, count: number, stride: number, matrix: number, scratch: number): void;
  scores(rows: number, count: number, stride: number, vector: number, out: number): void;
  scoreBounds(
    rows: number,
    which: number,
    count: number,
    stride: number,
    vector: number,
    records: number,
    head: number,
    factor: number,
    added: number,
    length: number,
    off: number,
    rounding: number,
    low: number,
    high: number,
  ): void;
  headBounds(
    records: number,
    which: number,
    count: number,
    head: number,
    vector: number,
    factor: number,
    added: number,
    error: number,
    length: number,
    floor: number,
  ): number;
  closeRows(
    rows: number,
    count: number,
    stride: number,
    vector: number,
    records: number,
    head: number,
    factor: number,
    added: number,
    reaches: number,
    length: number,
    off: number,
    floor: number,
    out: number,
  ): number;
  blockMaxima(
    added: number,
    lengths: number,
    longest: number,
    marked: number,
    blocks: number,
    factor: number,
    out: number,
  ): void;
  reaching(
    added: number,
    lengths: number,
    longest: number,
    marked: number,
    blocks: number,
    factor: number,
    floor: number,
    out: number,
  ): number;
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
  accumulate(
    index: number,
    from: number,
    to: number,
    step: number,
    value: number,
    sums: number,
    touched: number,
    count: number,
  ): number;
  addEntries(
    rows: number,
    count: number,
    start: number,
    index: number,
    values: number,
    out: number,
    marked: number,
  ): void;
  multiplyMarked(values: number, factors: number, marked: number, blocks: number): void;
}

/** The memory of a kernel. */
export interface KernelMemory {
  readonly buffer: ArrayBufferLike;
}

// Neither the ES library nor the types of Node 20 declare this global.
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

/** Returns the kernel functions for a memory that another thread has created. */
export function kernelOn(memory: KernelMemory): KernelExports {
  return instanceOf(sharedWasm, memory);
}

/** WebAssembly addresses memory with 32 bits. */
const MAX_BYTES = 2 ** 32;

/** Thrown if a model needs more memory than a kernel can have. A retry cannot succeed. */
export class TooLargeError extends Error {
  override readonly name = "TooLargeError";

  constructor(bytes: number) {
    super(
      `The model needs ${(bytes / 2 ** 30).toFixed(1)} GiB of memory at once, and 4 GiB is the limit. ` +
        "Set fewer dimensions, or train with fewer users and items.",
    );
  }
}

/** The SIMD kernel with a memory of fixed size. Arrays are allocated in it one after another, and never freed. */
export class Kernel {
  readonly run: KernelExports;
  readonly memory: KernelMemory;
  private used = 0;

  constructor(bytes: number, { shared = false } = {}) {
    if (bytes > MAX_BYTES) throw new TooLargeError(bytes);
    const initial = Math.ceil(bytes / 65536);
    this.memory = new WebAssembly.Memory(shared ? { initial, maximum: initial, shared } : { initial });
    this.run = instanceOf(shared ? sharedWasm : wasm, this.memory);
  }

  /** Allocates floats, initially zero. */
  floats(length: number): Float32Array {
    return new Float32Array(this.memory.buffer, this.take(length), length);
  }

  /** Allocates unsigned integers, initially zero. */
  integers(length: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, this.take(length), length);
  }

  /** Allocates doubles, initially zero. */
  doubles(length: number): Float64Array {
    return new Float64Array(this.memory.buffer, this.take(2 * length), length);
  }

  private take(length: number): number {
    const at = this.used;
    this.used += arrayBytes(length);
    return at;
  }
}

/** Returns the number of bytes that an array of 4-byte numbers occupies in a kernel's memory. */
export function arrayBytes(length: number): number {
  return Math.ceil(length / 4) * 16;
}

/**
 * Returns the number of floats from one vector to the next: the dimensions, rounded up to a multiple of 8 because the
 * kernel needs it. The padding is zero.
 */
export function strideOf(dimensions: number): number {
  return Math.ceil(dimensions / 8) * 8;
}

/** Rounds up a number of rows, because the kernel writes scores four at a time. */
export function paddedRows(rows: number): number {
  return Math.ceil(rows / 4) * 4;
}
