import type { AttributeRecords, Attributes } from "../algorithms";

const chunkBytes = 8 * 1024 * 1024;

/** Position of a record's text. */
interface Span {
  readonly chunk: number;
  readonly from: number;
  readonly to: number;
}

/** Records by index, stored as the bytes of their JSON. As objects, a million records would fill the heap. */
export class RecordTexts implements AttributeRecords {
  private readonly chunks: Buffer[] = [];
  private readonly spans: (Span | undefined)[] = [];
  private free = Buffer.alloc(0);

  get length(): number {
    return this.spans.length;
  }

  /** Parses the record at an index. */
  at(index: number): Attributes | undefined {
    const span = this.spans[index];
    return span && JSON.parse(this.chunks[span.chunk]?.toString("utf8", span.from, span.to) as string);
  }

  *[Symbol.iterator](): Generator<Attributes | undefined> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  /** Stores the text of a record. */
  set(index: number, text: string): void {
    const size = Buffer.byteLength(text);
    if (size > this.free.length) {
      this.free = Buffer.allocUnsafeSlow(Math.max(size, chunkBytes));
      this.chunks.push(this.free);
    }
    this.free.write(text);
    const chunk = this.chunks.length - 1;
    const from = (this.chunks[chunk] as Buffer).length - this.free.length;
    while (this.spans.length < index) this.spans.push(undefined);
    this.spans[index] = { chunk, from, to: from + size };
    this.free = this.free.subarray(size);
  }

  /** Moves each record to a new index. `indexes` also covers users and items without a record. */
  renumber(indexes: Uint32Array): void {
    const before = this.spans.splice(0);
    for (const _ of indexes) this.spans.push(undefined);
    before.forEach((span, index) => {
      this.spans[indexes[index] as number] = span;
    });
  }
}
