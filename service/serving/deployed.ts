import type { JsonMap } from "../../contract";
import type { Attributes, UserItem } from "../algorithms";
import { Places } from "../base/places";
import type { Change, EventsChange, ItemsChange } from "../store/changes";
import { forgettingsOf, forgottenSince } from "../store/forgotten";
import type { ProjectData } from "../store/project-data";
import { changesOf, snapshot, weightOf, writtenRecords } from "../store/snapshot";
import type { DeploymentTable } from "../store/tables";
import { type Build, otherTypes, type PlacedModel } from "../threads/build";
import { type Current, CurrentReader } from "./current";
import { candidatesFor, type DeployedContext, notDeployed, rowReader } from "./deployed-context";
import { History } from "./history";
import { KeptAttributes } from "./kept-attributes";
import { KeptEvents, type UserEvents, withOtherTypes } from "./kept-events";
import { RateLimit } from "./rate-limit";
import { ServedModel } from "./served-model";

const noEvents: UserEvents = { items: [], weights: () => [] };

/** The models of one project in service, with each user's events as they stand. */
export class Deployed {
  readonly rateLimit: RateLimit;
  private readonly users: Places;
  readonly items: Places;
  /** Null once the event dataset is deleted: then the models serve with what they learned. */
  private history: History | null;
  /** The events of each type beside the target event that counts. */
  private readonly others: ReadonlyMap<string, History>;
  private readonly attributes: KeptAttributes;
  /** Where the events lie in a database that others write to as well. */
  private readonly current: CurrentReader;
  private readonly keptEvents: KeptEvents;
  /** Items that only the events of forgotten users had placed, until their attributes place them. */
  private readonly unplaced = new Set<string>();
  readonly generator: ServedModel;
  readonly ranker: ServedModel | undefined;
  private readonly begin: Pick<Build, "lastSeq" | "deletions">;
  /** What this memory has seen of a database that others write to as well. */
  private seen: Pick<Build, "itemChanges" | "forgottenUntil">;
  private refreshing: Promise<void> | undefined;

  constructor(
    { generator, ranker, userIds, itemIds, history, others, ...begin }: Build,
    private readonly data: ProjectData,
    readonly row: DeploymentTable,
    private readonly context: DeployedContext,
  ) {
    const { clock, metrics, share } = context;
    const count = (isKept: boolean) => metrics.vectors.inc({ kept: String(isKept) });
    this.rateLimit = new RateLimit(row.qps, clock, share);
    this.users = new Places(userIds);
    this.items = new Places(itemIds);
    this.history = history && new History(history);
    const counting = otherTypes([generator.model, ranker?.model]);
    this.current = new CurrentReader(context.store.db, row.project_id, data, counting);
    this.others = new Map(Array.from(others, ([type, pairs]) => [type, new History(pairs)]));
    this.keptEvents = new KeptEvents(this.items, data.targetEventType);
    const serve = (placed: PlacedModel, modelId: string, users: Places, items: Places) =>
      new ServedModel(placed, users, items, count, rowReader(context, modelId));
    this.generator = serve(generator, row.generator_model_id, this.users, this.items);
    if (ranker && row.ranker_model_id !== null) {
      const [users, items] = [new Places([...ranker.userIds]), new Places([...ranker.itemIds])];
      this.ranker = serve(ranker, row.ranker_model_id, users, items);
    }
    this.attributes = new KeptAttributes((ids) => this.recordsOf(data.items.number, ids).execute());
    this.begin = begin;
    this.seen = begin;
  }

  /** The ids of the best items for a user, without those that he has target events for. */
  async recommend(userId: string, limit: number, isAddressed = true): Promise<string[]> {
    const { generator, ranker } = this;
    const { changes } = generator.recommender;
    const events = await this.eventsOf(userId, isAddressed);
    let record: Promise<Attributes | undefined> | undefined;
    const preferencesIn = async (served: ServedModel) => {
      const placed = events && (() => this.placed(events, served));
      const known = served.preferencesOf(userId, placed, events?.stamp);
      if (known) return known;
      record ??= this.attributesOfUser(userId);
      return served.recommender.preferencesFromAttributes(await record);
    };
    const preferences = await preferencesIn(generator);
    // A trained ranker uses the generator's scores, so it needs no user preferences.
    const order = ranker && !ranker.ranking ? await preferencesIn(ranker) : null;
    const wanted = candidatesFor(limit, this);
    const { items: best, scores } = generator.bestFor(userId, preferences, wanted, changes, () =>
      events ? this.had(events) : [],
    );
    const own = () => (events && ranker ? this.placed(events, ranker) : []);
    const ordered = ranker?.order(best, { scores, placed: this.items, userId, preferences: order, own });
    const shown = generator.recommender.spread(ordered ?? best, limit);
    return shown.map((item) => this.items.ids[item] as string);
  }

  /** Returns the current target events of a user, or null if the event dataset is deleted. Updates the models first. */
  async eventsOf(userId: string, isAddressed = true): Promise<UserEvents | null> {
    const stored = this.context.store.shared ? await this.storedEvents(userId, isAddressed) : undefined;
    await this.letGo();
    // In memory events may have come while the rest was waited for.
    return stored === undefined ? this.mirrored(userId) : stored;
  }

  /** Removes what the models learned of users who were forgotten; their files are read for it, so these come later. */
  async forgetForgotten(): Promise<void> {
    const { shared, db } = this.context.store;
    if (shared && (await forgettingsOf(db, this.data.events.id)) > this.seen.forgottenUntil)
      await this.refreshed();
    await this.letGo();
  }

  private async letGo(): Promise<void> {
    for (const served of this.ranker ? [this.generator, this.ranker] : [this.generator])
      if (served.isLettingGo) for (const id of await served.letGo()) this.unplaced.add(id);
    if (this.unplaced.size > 0) await this.placeUnplaced();
  }

  /** The attributes of items. */
  attributesOf(itemIds: readonly string[]): Promise<Map<string, JsonMap>> {
    return this.attributes.of(itemIds);
  }

  /** Applies the writes that were made while the deployment was built, without those that the build has read. */
  catchUp(changes: readonly Change[]): void {
    const events = changes.filter((change): change is EventsChange => "gone" in change);
    const gone = new Set(
      events.filter((change) => this.hasSeen(change)).flatMap((change) => change.gone.map(({ seq }) => seq)),
    );
    // An event that was written and deleted before the build read the events has a seq above the last one it read.
    // So it looks like a new one, though it is gone.
    for (const change of changes) {
      this.apply(
        "come" in change ? { ...change, come: change.come.filter(({ seq }) => !gone.has(seq)) } : change,
      );
    }
  }

  /** Applies a write. */
  apply(change: Change): void {
    if ("items" in change) this.applyItems(change);
    else if ("forgotten" in change) {
      if (change.eventDatasetId === this.data.events.id) this.forget(change.forgotten);
    } else if (change.dataset !== this.data.events.number) return;
    else if ("cleared" in change) this.history = null;
    else this.applyEvents(change);
  }

  private applyEvents(change: EventsChange): void {
    for (const event of this.hasSeen(change) ? [] : change.gone) this.change(event, -1);
    for (const event of change.come) if (event.seq > this.begin.lastSeq) this.change(event, 1);
  }

  private hasSeen({ dataset, deletions }: EventsChange): boolean {
    return dataset === this.data.events.number && deletions <= this.begin.deletions;
  }

  private change(event: EventsChange["come"][number], by: 1 | -1): void {
    const isTarget = event.event_type === this.data.targetEventType;
    const history = isTarget ? this.history : this.others.get(event.event_type);
    if (!history && !isTarget) return;
    const user = this.users.of(event.user_id);
    const item = this.placeOfItem(event.item_id);
    history?.change(user, item, weightOf(event.event_value), by);
    this.generator.userChanged(event.user_id);
    this.ranker?.userChanged(event.user_id);
  }

  private forget(userId: string): void {
    this.generator.forget(userId);
    this.ranker?.forget(userId);
  }

  private applyItems({ dataset, items }: ItemsChange): void {
    if (dataset !== this.data.items.number || items.size === 0) return;
    // An item that had no place may be one that users have events for.
    this.keptEvents.clear();
    this.attributes.changed(items.keys());
    for (const [id, { attributes }] of items) {
      this.unplaced.delete(id);
      this.place(id, attributes);
    }
  }

  /** Read when they are next needed; an item that is written meanwhile is placed by what was written. */
  private async placeUnplaced(): Promise<void> {
    const ids = [...this.unplaced];
    const rows = await this.recordsOf(this.data.items.number, ids).execute();
    for (const row of rows)
      if (this.unplaced.has(row.record_id)) this.place(row.record_id, JSON.parse(row.attributes));
    for (const id of ids) this.unplaced.delete(id);
  }

  private place(id: string, attributes: Attributes): void {
    this.generator.placeItem(this.items.of(id), attributes);
    const own = this.ranker?.items.find(id);
    if (own !== undefined) this.ranker?.placeItem(own, attributes);
  }

  /** An item that is known from events alone has a place, but nothing says where it lies. */
  private placeOfItem(id: string): number {
    const known = this.items.find(id);
    if (known !== undefined) return known;
    const place = this.items.of(id);
    this.generator.placeItem(place, undefined);
    return place;
  }

  /** The events of a user out of memory; null where the event dataset is deleted. */
  private mirrored(userId: string): UserEvents | null {
    const { history } = this;
    const user = this.users.find(userId);
    if (!history || user === undefined) return history && noEvents;
    return {
      items: history.items(user),
      weights: (rule) =>
        withOtherTypes(history.weights(user), rule, (type) => this.others.get(type)?.weights(user) ?? []),
    };
  }

  /** The events of a user out of the store, after everything else in memory was brought up to what stands there. */
  private async storedEvents(userId: string, isAddressed: boolean): Promise<UserEvents | null> {
    const { onOutdated, onSeveral } = this.context;
    const { project_id, job_id } = this.row;
    for (;;) {
      const kept = this.keptEvents.find(userId);
      const stamp = kept?.stamp ?? "";
      const now = await this.current.read(userId, stamp);
      if (now.jobId !== job_id) onOutdated();
      if (now.hasOthers && !isAddressed) await onSeveral();
      if (now.jobId === null) throw notDeployed(project_id);
      while (this.isBehind(now)) await this.refreshed();
      if (now.deletions === null) return null;
      if (now.events !== null) return this.keptEvents.keep(userId, now.stamp, now.events);
      // Otherwise something has come between.
      if (kept && kept === this.keptEvents.find(userId)) return kept;
    }
  }

  private isBehind({ itemChanges, forgettings }: Current): boolean {
    return itemChanges > this.seen.itemChanges || (forgettings ?? 0) > this.seen.forgottenUntil;
  }

  private refreshed(): Promise<void> {
    this.refreshing ??= this.refresh().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Takes over the items that were written and lets go of the users that were forgotten since. */
  private async refresh(): Promise<void> {
    const { forgotten, seen } = await snapshot(this.context.store.db, async (db) => {
      const { items, events } = this.data;
      // Items that fit equally well are answered in the order of their coming.
      for await (const page of writtenRecords(db, items.number, this.seen.itemChanges)) {
        const attributes = page.map(
          (row) => [row.record_id, { attributes: JSON.parse(row.attributes) }] as const,
        );
        this.applyItems({ dataset: items.number, items: new Map(attributes) });
      }
      return {
        forgotten: await forgottenSince(db, events.id, this.seen.forgottenUntil),
        seen: { itemChanges: await changesOf(db, items), forgottenUntil: await forgettingsOf(db, events.id) },
      };
    });
    await this.generator.forgetAll(forgotten);
    await this.ranker?.forgetAll(forgotten);
    this.seen = seen;
  }

  /** What is not recommended to a user again. */
  had(events: UserEvents): Iterable<number> {
    const rule = this.generator.eventRule;
    if (!rule || rule.recommendSeen) return events.items;
    return new Set([...events.items, ...events.weights(rule).map(({ item }) => item)]);
  }

  /** The events of a user on the items that a model knows, in its places. */
  placed(events: Pick<UserEvents, "weights">, { items, eventRule }: ServedModel): UserItem[] {
    if (items === this.items) return events.weights(eventRule);
    return events.weights(eventRule).flatMap(({ item, weight }) => {
      const place = items.find(this.items.ids[item] as string);
      return place === undefined ? [] : [{ item: place, weight }];
    });
  }

  async attributesOfUser(userId: string): Promise<Attributes | undefined> {
    const [row] = await this.recordsOf(this.data.users.number, [userId]).where("forgotten", "=", 0).execute();
    return row ? JSON.parse(row.attributes) : undefined;
  }

  private recordsOf(dataset: number, ids: readonly string[]) {
    return this.context.store.db
      .selectFrom("records")
      .select(["record_id", "attributes"])
      .where("dataset", "=", dataset)
      .where("record_id", "in", ids);
  }
}
