import { type Attributes, Recommender, type UserItem } from "../algorithms";
import type { Places } from "../base/places";
import type { PlacedModel } from "../threads/build";

const keptVectors = 20_000;

/** A model in service, with the vectors of the users as their events stand. */
export class ServedModel {
  readonly recommender: Recommender;
  private readonly vectors = new Map<string, { readonly vector: Float32Array; readonly stamp: string }>();

  /** The places begin with those of the model. */
  constructor(
    { model, itemVectors }: PlacedModel,
    readonly users: Places,
    readonly items: Places,
    private readonly count: (isKept: boolean) => void,
  ) {
    this.recommender = new Recommender(model, itemVectors);
  }

  /**
   * The vector of a user from his events, null without any; where all events are gone, that of the training. What was
   * computed is kept as long as the stamp of the events is the same.
   */
  vectorOf(userId: string, items: (() => UserItem[]) | null, stamp = ""): Float32Array | null {
    const user = this.users.find(userId);
    if (!items) return user === undefined ? null : this.recommender.learnedVector(user);
    const kept = this.vectors.get(userId);
    const holds = kept?.stamp === stamp;
    this.count(holds);
    if (holds) return kept.vector;
    const vector = this.recommender.vectorFromItems(items(), user);
    if (vector) {
      if (this.vectors.size >= keptVectors) this.vectors.clear();
      this.vectors.set(userId, { vector, stamp });
    }
    return vector;
  }

  /** Takes note that the events of a user changed. */
  userChanged(userId: string): void {
    this.vectors.delete(userId);
  }

  /** Places an item by its attributes, unless events placed it. */
  placeItem(item: number, attributes: Attributes | undefined): void {
    if (this.recommender.place(item, attributes)) this.vectors.clear();
  }

  /** Lets go of what the model learned about a user; gives the ids of the items that no event places any more. */
  forget(userId: string): string[] {
    const user = this.users.find(userId);
    const unplaced = user === undefined ? [] : this.recommender.forget(user);
    if (unplaced.length > 0) this.vectors.clear();
    this.vectors.delete(userId);
    return unplaced.map((item) => this.items.ids[item] as string);
  }
}
