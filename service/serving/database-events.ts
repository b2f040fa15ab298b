import type { Attributes } from "../algorithms";
import type { Db } from "../store/database";
import { deletionCount, forgottenSince } from "../store/forgotten";
import type { ProjectData } from "../store/project-data";
import { changesOf, snapshot, writtenRecords } from "../store/snapshot";
import { type Build, otherTypes, usesTimes } from "../threads/build";
import { CachedEvents } from "./cached-events";
import { type Current, CurrentReader } from "./current";
import type { EventReader, EventSource, UpdatableModels } from "./event-source";
import type { UserEvents } from "./user-events";

/** Callbacks for changes by other processes that a read of the database has noticed. */
export interface DeploymentCallbacks {
  /** Called if another process has replaced this deployment or shut it down. */
  readonly onOutdated: () => void;
  /** Called if several projects are deployed and the caller named none. Rejects if a sync confirms this. */
  readonly onSeveral: () => Promise<void>;
  /** Called if the deployment was shut down. Throws if it must not be used any more. */
  readonly onShutDown: () => void;
}

/** Reads events from a database to which other processes also write. */
export class DatabaseEventSource implements EventSource {
  readonly needsAllEvents = false;

  constructor(
    private readonly db: Db,
    private readonly data: ProjectData,
    private readonly callbacks: DeploymentCallbacks,
  ) {}

  start(deployed: UpdatableModels, build: Build): EventReader {
    return new DatabaseEvents(this.db, this.data, deployed, build, this.callbacks);
  }

  close(): void {}
}

class DatabaseEvents implements EventReader {
  private readonly reader: CurrentReader;
  private readonly cached: CachedEvents;
  /** Counts of the item upserts and deletions that the models already reflect. */
  private seen: Pick<Build, "itemChanges" | "forgottenUntil">;
  private refreshing: Promise<void> | undefined;

  constructor(
    private readonly db: Db,
    private readonly data: ProjectData,
    private readonly deployed: UpdatableModels,
    { generator, ranker, itemChanges, forgottenUntil }: Build,
    private readonly callbacks: DeploymentCallbacks,
  ) {
    const models = [generator.model, ranker?.model];
    const projectId = deployed.row.project_id;
    this.reader = new CurrentReader(db, projectId, data, otherTypes(models), usesTimes(models));
    this.cached = new CachedEvents(deployed.items, data.targetEventType);
    this.seen = { itemChanges, forgottenUntil };
  }

  async read(userId: string, isAddressed: boolean): Promise<UserEvents | null> {
    const events = await this.readCurrent(userId, isAddressed);
    await this.deployed.finishForgetting();
    return events;
  }

  async removeForgotten(): Promise<void> {
    if ((await deletionCount(this.db, this.data.events.id)) > this.seen.forgottenUntil) await this.refresh();
    await this.deployed.finishForgetting();
  }

  private async readCurrent(userId: string, isAddressed: boolean): Promise<UserEvents | null> {
    const { reader, cached, callbacks } = this;
    const { job_id } = this.deployed.row;
    for (;;) {
      const known = cached.find(userId);
      const current = await reader.read(userId, known?.stamp ?? "");
      if (current.jobId !== job_id) callbacks.onOutdated();
      if (current.hasOthers && !isAddressed) await callbacks.onSeveral();
      if (current.jobId === null) callbacks.onShutDown();
      while (this.isBehind(current)) await this.refresh();
      if (current.deletions === null) return null;
      if (current.events !== null) return cached.keep(userId, current.stamp, current.events);
      if (known && known === cached.find(userId)) return known;
      // The cached events were dropped during the read, so the next iteration reads them in full.
    }
  }

  private isBehind({ itemChanges, forgettings }: Current): boolean {
    return itemChanges > this.seen.itemChanges || (forgettings ?? 0) > this.seen.forgottenUntil;
  }

  /** Updates the models. Concurrent callers share one update. */
  private refresh(): Promise<void> {
    this.refreshing ??= this.readChanges().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Updates the models with the items that were written and the users who were forgotten since the last update. */
  private async readChanges(): Promise<void> {
    const { data, deployed, seen } = this;
    const { forgotten, now } = await snapshot(this.db, async (db) => {
      // Items with equal scores are returned in the order in which they were added, so the pages must be in that order.
      for await (const page of writtenRecords(db, data.items.number, seen.itemChanges)) {
        // Cached users may have events on an item that was unknown until now.
        this.cached.clear();
        const attributes = (text: string): Attributes => JSON.parse(text);
        deployed.placeItems(
          new Map(page.map((record) => [record.record_id, { attributes: attributes(record.attributes) }])),
        );
      }
      return {
        forgotten: await forgottenSince(db, data.events.id, seen.forgottenUntil),
        now: {
          itemChanges: await changesOf(db, data.items),
          forgottenUntil: await deletionCount(db, data.events.id),
        },
      };
    });
    await deployed.forgetAll(forgotten);
    this.seen = now;
  }
}
