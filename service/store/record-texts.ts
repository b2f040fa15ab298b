import type { AttributeRecords, Attributes } from "../algorithms";

const chunkBytes = 8 * 1024 * 1024;

/** Where a record's text lies. */
interface Span {
  readonly chunk: number;
  readonly from: number;
  readonly to: number;
}

/** Records by place, kept as the bytes of their JSON: a million of them as objects would fill the heap. */
export class RecordTexts implements AttributeRecords {
  private readonly chunks: Buffer[] = [];
  private readonly spans: (Span | undefined)[] = [];
  private free = Buffer.alloc(0);

  get length(): number {
    return this.spans.length;
  }

  /** The record at a place, read anew each time. */
  at(place: number): Attributes | undefined {
    const span = this.spans[place];
    return span && JSON.parse(this.chunks[span.chunk]?.toString("utf8", span.from, span.to) as string);
  }

  *[Symbol.iterator](): Generator<Attributes | undefined> {
    for (let place = 0; place < this.length; place++) yield this.at(place);
  }

  /** Keeps the text of a record. */
  set(place: number, text: string): void {
    const size = Buffer.byteLength(text);
    if (size > this.free.length) {
      this.free = Buffer.allocUnsafeSlow(Math.max(size, chunkBytes));
      this.chunks.push(this.free);
    }
    this.free.write(text);
    const chunk = this.chunks.length - 1;
    const from = (this.chunks[chunk] as Buffer).length - this.free.length;
    while (this.spans.length < place) this.spans.push(undefined);
    this.spans[place] = { chunk, from, to: from + size };
    this.free = this.free.subarray(size);
  }

  /** Moves each record to another place; those who have events but no record have a place too. */
  renumber(places: Uint32Array): void {
    const before = this.spans.splice(0);
    for (const _ of places) this.spans.push(undefined);
    before.forEach((span, place) => {
      this.spans[places[place] as number] = span;
    });
  }
}
