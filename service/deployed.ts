import type { JsonMap } from "../contract";
import { type Attributes, Recommender } from "./algorithms";
import type { Build } from "./build";
import type { Clock } from "./clock";
import { History, noRows } from "./history";
import type { StoredModel } from "./model-file";
import { RateLimit } from "./rate-limit";
import type { Change, EventsChange, ItemsChange } from "./serving";
import { Places } from "./snapshot";
import type { Db } from "./store";
import type { ProjectData } from "./training";

/** Candidates that a ranker gets at least to choose from. */
const leastCandidates = 100;
const keptVectors = 20_000;
const keptAttributes = 50_000;

/** The models of one project in service, with each user's events as they stand. */
export class Deployed {
  readonly rateLimit: RateLimit;
  private readonly users: Places;
  private readonly items: Places;
  private history: History;
  private readonly newItems: (Attributes | undefined)[];
  private readonly changed = new Set<number>();
  private readonly vectors = new Map<string, Float32Array | null>();
  private readonly attributes = new Map<string, JsonMap>();
  private generator: Recommender;
  private readonly ranker: { readonly recommender: Recommender; readonly items: Places } | undefined;
  private outdated = false;

  constructor(
    private readonly build: Build,
    private readonly data: ProjectData,
    qps: number,
    private readonly db: Db,
    clock: Clock,
  ) {
    this.rateLimit = new RateLimit(qps, clock);
    this.users = new Places(build.userIds);
    this.items = new Places(build.itemIds);
    this.history = new History(build.history);
    this.newItems = build.newItems;
    build.changed.forEach((is, user) => {
      if (is) this.changed.add(user);
    });
    this.generator = new Recommender(build.generator.model, this.newItems);
    this.ranker = build.ranker
      ? { recommender: new Recommender(build.ranker.model), items: placesOf(build.ranker) }
      : undefined;
  }

  /** The ids of the best items for a user, without those that he has target events for. */
  async recommend(userId: string, limit: number): Promise<string[]> {
    const user = this.users.find(userId);
    const known = user === undefined ? undefined : this.knownVector(user);
    const attributes = known === undefined ? await this.attributesOfUser(userId) : undefined;
    if (this.outdated) this.takeUpNewItems();
    const vector = known ?? this.generator.vectorFromAttributes(attributes);
    const seen = user === undefined ? [] : this.history.items(user);
    const wanted = this.ranker ? Math.max(limit, leastCandidates) : limit;
    const best = this.generator.top(vector, wanted, seen);
    return (this.ranker ? this.rerank(best, user, attributes) : best)
      .slice(0, limit)
      .map((item) => this.items.ids[item] as string);
  }

  /** The named attributes of items, those asked for lately from memory. */
  async attributesOf(itemIds: readonly string[]): Promise<Map<string, JsonMap>> {
    const missing = itemIds.filter((id) => !this.attributes.has(id));
    if (missing.length > 0) {
      const rows = await this.recordsOf(this.data.items.number, missing);
      if (this.attributes.size + missing.length > keptAttributes) this.attributes.clear();
      for (const id of missing) this.attributes.set(id, {});
      for (const row of rows) this.attributes.set(row.record_id, JSON.parse(row.attributes));
    }
    return new Map(itemIds.map((id) => [id, this.attributes.get(id) ?? {}]));
  }

  /** Takes note of a write. */
  apply(change: Change): void {
    if ("items" in change) this.applyItems(change);
    else if ("cleared" in change) this.clear(change.dataset);
    else if (change.dataset === this.data.events.number) this.applyEvents(change);
  }

  /** Without its events the model serves with what it learned. */
  private clear(dataset: number): void {
    if (dataset !== this.data.events.number) return;
    this.history = new History(noRows);
    this.changed.clear();
    this.vectors.clear();
  }

  private applyEvents({ deletions, gone, come }: EventsChange): void {
    // What was written before the state was read that this deployment began with is in it already.
    const seen = deletions <= this.build.deletions;
    for (const event of seen ? [] : gone) this.change(event.user_id, event.item_id, event, -1);
    for (const event of come)
      if (event.seq > this.build.lastSeq) this.change(event.user_id, event.item_id, event, 1);
  }

  private change(
    userId: string,
    itemId: string,
    event: { event_type: string; event_value: number },
    by: 1 | -1,
  ): void {
    if (event.event_type !== this.data.targetEventType) return;
    const user = this.users.of(userId);
    this.history.change(user, this.placeOfItem(itemId), event.event_value, by);
    this.changed.add(user);
    this.vectors.delete(`g${user}`);
    this.vectors.delete(`r${user}`);
  }

  private applyItems({ dataset, items }: ItemsChange): void {
    if (dataset !== this.data.items.number) return;
    for (const [id, { attributes }] of items) {
      this.attributes.delete(id);
      const place = this.placeOfItem(id) - this.build.generator.itemIds.length;
      // Items of the training keep the place that their events gave them.
      if (place < 0) continue;
      this.newItems[place] = attributes;
      this.outdated = true;
    }
  }

  private placeOfItem(id: string): number {
    const place = this.items.of(id);
    const behind = place - this.build.generator.itemIds.length;
    if (behind >= this.newItems.length) {
      this.newItems[behind] = undefined;
      this.outdated = true;
    }
    return place;
  }

  private takeUpNewItems(): void {
    this.generator = new Recommender(this.build.generator.model, this.newItems);
    this.outdated = false;
  }

  /** From the training where the events are still the same, otherwise solved from the events as they are. */
  private knownVector(user: number): Float32Array | undefined {
    if (!this.changed.has(user)) return this.generator.userVector(user) ?? undefined;
    return (
      this.kept(`g${user}`, () => this.generator.vectorFromItems(this.history.weights(user))) ?? undefined
    );
  }

  private rerank(
    candidates: number[],
    user: number | undefined,
    attributes: Attributes | undefined,
  ): number[] {
    const { recommender, items } = this.ranker as NonNullable<typeof this.ranker>;
    const own = (item: number) => items.find(this.items.ids[item] as string);
    const solve = () =>
      recommender.vectorFromItems(
        this.history.weights(user as number).flatMap(({ item, weight }) => {
          const place = own(item);
          return place === undefined ? [] : [{ item: place, weight }];
        }),
      );
    const vector =
      (user === undefined ? null : this.kept(`r${user}`, solve)) ??
      recommender.vectorFromAttributes(attributes);
    const places = candidates.map((item) => own(item) ?? recommender.items + item);
    const byPlace = new Map(places.map((place, at) => [place, candidates[at] as number]));
    return recommender.rerank(places, vector).map((place) => byPlace.get(place) as number);
  }

  private kept(key: string, make: () => Float32Array | null): Float32Array | null {
    let vector = this.vectors.get(key);
    if (vector === undefined) {
      if (this.vectors.size >= keptVectors) this.vectors.clear();
      vector = make();
      this.vectors.set(key, vector);
    }
    return vector;
  }

  private async attributesOfUser(userId: string): Promise<Attributes | undefined> {
    const [row] = await this.recordsOf(this.data.users.number, [userId]);
    return row ? JSON.parse(row.attributes) : undefined;
  }

  private recordsOf(dataset: number, ids: readonly string[]) {
    return this.db
      .selectFrom("records")
      .select(["record_id", "attributes"])
      .where("dataset", "=", dataset)
      .where("record_id", "in", ids)
      .execute();
  }
}

function placesOf({ itemIds }: StoredModel): Places {
  return new Places([...itemIds]);
}
