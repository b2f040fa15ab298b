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

  /** The ids in an order that does not depend on their coming, and the place of each therein. */
  ordered(): { readonly ids: string[]; readonly places: Uint32Array } {
    const ids = [...this.ids].sort();
    const places = new Uint32Array(ids.length);
    ids.forEach((id, place) => {
      places[this.places.get(id) as number] = place;
    });
    return { ids, places };
  }

  /** The place of an id that has one. */
  find(id: string): number | undefined {
    return this.places.get(id);
  }
}
