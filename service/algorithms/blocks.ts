/** Number of items in a block: see `BLOCK` in kernel.as. */
export const BLOCK = 64;

/** Rounds up a number of items to whole blocks. */
export function paddedBlocks(items: number): number {
  return Math.ceil(items / BLOCK) * BLOCK;
}

/** Allocates a mark for each block of items. */
export function allocateMarks(items: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Math.ceil(items / BLOCK));
}

/**
 * Calls a function with each range of items whose blocks are marked. Scores of few of very many items are kept in an array
 * for all items, with marks to find them. Successive blocks are one range, so the loops are as fast if most are marked.
 */
export function eachMarked(marked: Uint8Array, visit: (from: number, to: number) => void): void {
  for (let from = marked.indexOf(1); from >= 0; ) {
    const end = marked.indexOf(0, from);
    const to = end < 0 ? marked.length : end;
    visit(from * BLOCK, to * BLOCK);
    from = marked.indexOf(1, to);
  }
}
