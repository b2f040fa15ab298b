/** Gives ids their places, in the order in which they come. */
export class Places {
  private readonly places = new Map<string, number>();

  constructor(readonly ids: string[] = []) {
    for (const id of ids) this.places.set(id, this.places.size);
  }

  /** The place of an id, a new one where it has none yet. */
  of(id: string): number {
    let place = this.places.get(id);
    if (place === undefined) {
      place = this.ids.length;
      this.places.set(id, place);
      this.ids.push(id);
    }
    return place;
  }

  /** The place of an id that has one. */
  find(id: string): number | undefined {
    return this.places.get(id);
  }
}
