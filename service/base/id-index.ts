/** Assigns numbers to ids, starting at 0, in the order in which the ids are added. */
export class IdIndex {
  private readonly numbers = new Map<string, number>();

  constructor(readonly ids: string[] = []) {
    for (const id of ids) this.numbers.set(id, this.numbers.size);
  }

  /** Adds an id unless it was already added. @returns the number of the id */
  add(id: string): number {
    let number = this.numbers.get(id);
    if (number === undefined) {
      number = this.ids.length;
      this.numbers.set(id, number);
      this.ids.push(id);
    }
    return number;
  }

  /** Returns the number of an id, or undefined if it was not added. */
  find(id: string): number | undefined {
    return this.numbers.get(id);
  }

  /** Returns the ids in sorted order. `numbers[old]` is the new number of the id whose number was `old`. */
  sorted(): { readonly ids: string[]; readonly numbers: Uint32Array } {
    const ids = [...this.ids].sort();
    const numbers = new Uint32Array(ids.length);
    ids.forEach((id, number) => {
      numbers[this.numbers.get(id) as number] = number;
    });
    return { ids, numbers };
  }
}
