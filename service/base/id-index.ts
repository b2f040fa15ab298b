/** Numbers ids from 0 in the order in which they are added. */
export class IdIndex {
  private readonly numbers = new Map<string, number>();

  constructor(readonly ids: string[] = []) {
    for (const id of ids) this.numbers.set(id, this.numbers.size);
  }

  /** Adds an id unless it has a number. @returns its number */
  add(id: string): number {
    let number = this.numbers.get(id);
    if (number === undefined) {
      number = this.ids.length;
      this.numbers.set(id, number);
      this.ids.push(id);
    }
    return number;
  }

  /** Returns the number of an id, if it has one. */
  find(id: string): number | undefined {
    return this.numbers.get(id);
  }

  /** Sorts the ids. `numbers` contains the new number of each id at its old one. */
  sorted(): { readonly ids: string[]; readonly numbers: Uint32Array } {
    const ids = [...this.ids].sort();
    const numbers = new Uint32Array(ids.length);
    ids.forEach((id, number) => {
      numbers[this.numbers.get(id) as number] = number;
    });
    return { ids, numbers };
  }
}
