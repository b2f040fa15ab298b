import type { Pairs } from "../algorithms";
import type { Change, EventChange, EventsChange, WrittenEvent } from "../store/changes";
import type { ProjectData } from "../store/project-data";
import { weightOf } from "../store/snapshot";
import type { Build } from "../threads/build";
import type { EventReader, EventSource, UpdatableModels } from "./event-source";
import { History } from "./history";
import { MissedChanges } from "./missed-changes";
import { type UserEvents, withOtherTypes } from "./user-events";

/** Calls a listener with each write from now on. Returns a function that unsubscribes the listener. */
export type Subscribe = (listener: (change: Change) => void) => () => void;

/**
 * Keeps the events of a deployment in memory, and updates them with each write. All writes must go through this
 * process.
 */
export class MemoryEventSource implements EventSource {
  readonly needsAllEvents = true;
  readonly close: () => void;
  private readonly missed: MissedChanges;
  private started: MemoryEvents | undefined;

  constructor(
    private readonly data: ProjectData,
    subscribe: Subscribe,
  ) {
    this.missed = new MissedChanges(data);
    this.close = subscribe((change) => (this.started ?? this.missed).add(change));
  }

  get abortsBuild(): AbortSignal {
    return this.missed.tooMany;
  }

  start(deployed: UpdatableModels, build: Build): MemoryEvents {
    this.started = new MemoryEvents(this.data, deployed, build);
    this.started.catchUp(this.missed.changes.splice(0));
    return this.started;
  }
}

class MemoryEvents implements EventReader {
  /** Target events of all users; null once the event dataset is deleted. */
  private target: History | null;
  private readonly others: ReadonlyMap<string, History>;
  private readonly built: Pick<Build, "lastSeq" | "deletions">;

  constructor(
    private readonly data: ProjectData,
    private readonly deployed: UpdatableModels,
    { history, others, withTimes, lastSeq, deletions }: Build,
  ) {
    const historyOf = (pairs: Pairs) => new History(pairs, undefined, withTimes);
    this.target = history && historyOf(history);
    this.others = new Map(Array.from(others, ([type, pairs]) => [type, historyOf(pairs)]));
    this.built = { lastSeq, deletions };
  }

  async read(userId: string): Promise<UserEvents | null> {
    // Events may arrive during this wait, so the user's events are read after it.
    await this.deployed.finishForgetting();
    const { target } = this;
    const user = this.deployed.users.find(userId);
    if (!target || user === undefined) return target && { items: [], sums: () => [], weights: () => [] };
    return {
      items: target.items(user),
      sums: (type) => (type === undefined ? target : this.others.get(type))?.sums(user) ?? [],
      weights: (rule) =>
        withOtherTypes(target.weights(user), rule, (type) => this.others.get(type)?.weights(user) ?? []),
    };
  }

  removeForgotten(): Promise<void> {
    return this.deployed.finishForgetting();
  }

  /** Applies the writes that were made during the build, except those that the build has read. */
  catchUp(changes: readonly Change[]): void {
    // Events that were written and deleted before the build read the events must not be added as new events.
    // Their `seq` can be higher than the last one that the build read.
    const deleted = new Set(
      changes
        .filter((change): change is EventsChange => "deleted" in change && this.wasRead(change))
        .flatMap((change) => change.deleted.map(({ seq }) => seq)),
    );
    for (const change of changes)
      this.add(
        "written" in change
          ? { ...change, written: change.written.filter(({ seq }) => !deleted.has(seq)) }
          : change,
      );
  }

  /** Applies a write. */
  add(change: Change): void {
    const { data, deployed } = this;
    if ("items" in change) {
      if (change.dataset === data.items.number) deployed.placeItems(change.items);
    } else if ("forgotten" in change) {
      if (change.eventDatasetId === data.events.id) deployed.forget(change.forgotten);
    } else if (change.dataset === data.events.number) {
      if ("cleared" in change) this.target = null;
      else this.addEvents(change);
    }
  }

  private addEvents(change: EventsChange): void {
    if (!this.wasRead(change)) for (const event of change.deleted) this.count(event, -1);
    for (const event of change.written) if (event.seq > this.built.lastSeq) this.count(event, 1);
  }

  /** Whether the deletion happened before the build read the events. */
  private wasRead({ dataset, deletions }: EventsChange): boolean {
    return dataset === this.data.events.number && deletions <= this.built.deletions;
  }

  private count(event: EventChange & Partial<WrittenEvent>, by: 1 | -1): void {
    const { deployed } = this;
    const isTarget = event.event_type === this.data.targetEventType;
    const history = isTarget ? this.target : this.others.get(event.event_type);
    if (!history && !isTarget) return;
    const user = deployed.users.add(event.user_id);
    const item = deployed.addItem(event.item_id);
    history?.change(user, item, weightOf(event.event_value), by, event.ts);
    deployed.userChanged(event.user_id);
  }
}
