import type { JsonMap } from "../../contract";
import type { AttributeSchema, Attributes, UserItem } from "../algorithms";
import { createYielder } from "../base/event-loop";
import { IdIndex } from "../base/id-index";
import type { HashedUsers } from "../store/forgotten";
import type { ProjectData } from "../store/project-data";
import { eachRecordText } from "../store/snapshot";
import type { DeploymentTable } from "../store/tables";
import type { Build, PlacedModel } from "../threads/build";
import { CachedAttributes } from "./cached-attributes";
import { type DeployedContext, rowReader } from "./deployed-context";
import type { EventReader, EventSource, UpdatableModels } from "./event-source";
import { ItemFilters } from "./filters/item-filters";
import { RateLimit } from "./rate-limit";
import { DeployedRules } from "./rules/deployed-rules";
import { ServedModel } from "./served-model";
import { SimilarItems } from "./similar-items";
import type { UserEvents } from "./user-events";

function schemaOf({ attribute_schema: schema }: ProjectData["items"]): AttributeSchema | null {
  return schema === null ? null : JSON.parse(schema);
}

/** The generator and the ranker of one deployment, up to date with the store. */
export class Deployed implements UpdatableModels {
  readonly rateLimit: RateLimit;
  readonly users: IdIndex;
  readonly items: IdIndex;
  readonly generator: ServedModel;
  readonly ranker: ServedModel | undefined;
  readonly events: EventReader;
  readonly filters: ItemFilters;
  readonly rules: DeployedRules | undefined;
  readonly similar: SimilarItems;
  private readonly attributes: CachedAttributes;
  /**
   * Items that lost all events because users were forgotten. They get vectors from attributes before the next
   * recommendation.
   */
  private readonly unplaced = new Set<string>();

  constructor(
    build: Build,
    private readonly data: ProjectData,
    readonly row: DeploymentTable,
    private readonly context: DeployedContext,
    private readonly source: EventSource,
  ) {
    const { clock, metrics, share } = context;
    const { generator, ranker } = build;
    this.rateLimit = new RateLimit(row.qps, clock, share);
    this.users = new IdIndex(build.userIds);
    this.items = new IdIndex(build.itemIds);
    const countCached = (isCached: boolean) => metrics.vectors.inc({ kept: String(isCached) });
    const serve = (placed: PlacedModel, modelId: string, users: IdIndex, items: IdIndex) =>
      new ServedModel(placed, users, items, countCached, rowReader(context, modelId));
    this.generator = serve(generator, row.generator_model_id, this.users, this.items);
    this.similar = new SimilarItems(this.generator.recommender);
    if (ranker && row.ranker_model_id !== null) {
      const [users, items] = [new IdIndex([...ranker.userIds]), new IdIndex([...ranker.itemIds])];
      this.ranker = serve(ranker, row.ranker_model_id, users, items);
    }
    this.attributes = new CachedAttributes((ids) => this.recordsOf(data.items.number, ids).execute());
    this.filters = new ItemFilters(
      (visit) => eachRecordText(context.store.db, data.items.number, visit, createYielder()),
      this.items,
      { items: schemaOf(data.items), users: schemaOf(data.users) },
    );
    if (row.rules !== null)
      this.rules = new DeployedRules(JSON.parse(row.rules), this.filters, (id) => this.items.find(id));
    this.events = source.start(this, build);
  }

  /** Stops keeping the models up to date. */
  close(): void {
    this.source.close();
  }

  /** The event type that the models predict. */
  get targetEventType(): string {
    return this.data.targetEventType;
  }

  /** Returns the attributes of items. */
  attributesOf(itemIds: readonly string[]): Promise<Map<string, JsonMap>> {
    return this.attributes.of(itemIds);
  }

  /** Returns the attributes of a user, or undefined if the user has no record. */
  async attributesOfUser(userId: string): Promise<Attributes | undefined> {
    const [row] = await this.recordsOf(this.data.users.number, [userId]).where("forgotten", "=", 0).execute();
    return row ? JSON.parse(row.attributes) : undefined;
  }

  /** Returns the items that are not recommended to a user again. */
  had(events: UserEvents): Iterable<number> {
    const rule = this.generator.eventRule;
    if (!rule || rule.recommendSeen) return events.items;
    return new Set([...events.items, ...events.weights(rule).map(({ item }) => item)]);
  }

  /**
   * Returns a user's items with their weights, numbered as in the given model. Items that it does not know are left
   * out.
   */
  eventsIn({ items, eventRule }: ServedModel, events: Pick<UserEvents, "weights">): UserItem[] {
    if (items === this.items) return events.weights(eventRule);
    return events.weights(eventRule).flatMap(({ item, weight }) => {
      const own = items.find(this.items.ids[item] as string);
      return own === undefined ? [] : [{ item: own, weight }];
    });
  }

  /** Drops the cached preferences of a user whose events have changed. */
  userChanged(userId: string): void {
    this.generator.userChanged(userId);
    this.ranker?.userChanged(userId);
  }

  /** Removes a user from the models. `finishForgetting` does the part that reads files. */
  forget(userId: string): void {
    this.generator.forget(userId);
    this.ranker?.forget(userId);
  }

  /** Removes all users of a set from the models. */
  async forgetAll(users: HashedUsers): Promise<void> {
    await this.generator.forgetAll(users);
    await this.ranker?.forgetAll(users);
  }

  /** Removes the events of forgotten users from the popularity of items. Every recommendation waits for this first. */
  async finishForgetting(): Promise<void> {
    for (const served of this.ranker ? [this.generator, this.ranker] : [this.generator])
      if (served.isForgetting) for (const id of await served.finishForgetting()) this.unplaced.add(id);
    if (this.unplaced.size > 0) await this.placeUnplaced();
  }

  /** Updates the vectors of items whose records were written. */
  placeItems(items: ReadonlyMap<string, { readonly attributes: Attributes }>): void {
    this.attributes.changed(items.keys());
    for (const [id, { attributes }] of items) {
      this.unplaced.delete(id);
      this.place(id, attributes);
    }
  }

  /** Returns the number of an item. An unknown item gets a number, but no vector until its record is written. */
  addItem(id: string): number {
    const known = this.items.find(id);
    if (known !== undefined) return known;
    const item = this.items.add(id);
    this.generator.placeItem(item, undefined);
    return item;
  }

  private place(id: string, attributes: Attributes): void {
    const item = this.items.add(id);
    this.generator.placeItem(item, attributes);
    this.filters.changed(item, attributes);
    const own = this.ranker?.items.find(id);
    if (own !== undefined) this.ranker?.placeItem(own, attributes);
  }

  private async placeUnplaced(): Promise<void> {
    const ids = [...this.unplaced];
    const rows = await this.recordsOf(this.data.items.number, ids).execute();
    // Skips items that were written during the read, because they already have vectors from newer attributes.
    for (const row of rows)
      if (this.unplaced.has(row.record_id)) this.place(row.record_id, JSON.parse(row.attributes));
    for (const id of ids) this.unplaced.delete(id);
  }

  private recordsOf(dataset: number, ids: readonly string[]) {
    return this.context.store.db
      .selectFrom("records")
      .select(["record_id", "attributes"])
      .where("dataset", "=", dataset)
      .where("record_id", "in", ids);
  }
}
