import { LRUCache } from "lru-cache";
import type { Part } from "../../../expressions/part";
import type { Input, KeptMasks } from "./evaluate";

/** Maximum size of the masks of a deployment, in bytes. */
const maxBytes = 64 * 1024 * 1024;

interface Kept {
  readonly stamp: string;
  readonly mask: Uint8Array;
}

/** The masks of one deployment. A mask is used until a value of an attribute that it depends on changes. */
export class MaskCache implements KeptMasks {
  private readonly masks = new LRUCache<Part, Kept>({
    maxSize: maxBytes,
    sizeCalculation: ({ mask }) => mask.byteLength + 200,
  });

  find(part: Part, input: Input): Uint8Array | undefined {
    const known = this.masks.get(part);
    return known?.stamp === stampOf(part, input) ? known.mask : undefined;
  }

  keep(part: Part, input: Input, mask: Uint8Array): void {
    this.masks.set(part, { stamp: stampOf(part, input), mask });
  }
}

function stampOf({ items }: Part, { columns, items: count }: Input): string {
  return `${count}:${Array.from(items, (place) => columns[place]?.version).join()}`;
}
