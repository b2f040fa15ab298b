import {
  type Attributes,
  type Features,
  featureReader,
  InteractionsBuilder,
  type Pairs,
  placedVectors,
  type ServableModel,
} from "../algorithms";
import { IdIndex } from "../base/id-index";
import type { Stored } from "../files/format/model";
import { type ModelSource, readServable } from "../files/models";
import type { Files } from "../files/storage/files";
import type { Db } from "../store/database";
import { lastSeqIn } from "../store/events";
import { deletionCount, forgottenSince } from "../store/forgotten";
import type { ProjectData } from "../store/project-data";
import { changesOf, deletionsOf, eachEvent, eachRecord, snapshot } from "../store/snapshot";

/** A deployment for a thread to build. */
export interface BuildTask {
  readonly kind: "DEPLOYMENT";
  readonly data: ProjectData;
  readonly generator: ModelSource;
  readonly ranker: ModelSource | null;
  /** Whether to read the events. With PostgreSQL, each recommendation reads the events of its user instead. */
  readonly withEvents: boolean;
}

/** A model with the current items. The vectors of items without training events are computed from their attributes. */
export interface PlacedModel extends Stored<ServableModel> {
  readonly itemVectors: Float32Array;
  /** Features of the items; empty unless the model ranks by attributes. */
  readonly features: (Features | undefined)[];
}

/**
 * A deployment that is ready to serve. Users and items are numbered as in the generator model. Those that were added
 * after its training follow.
 */
export interface Build {
  readonly generator: PlacedModel;
  readonly ranker: PlacedModel | null;
  readonly userIds: string[];
  readonly itemIds: string[];
  /** Target events of each user; null if they were not read, or if the event dataset was deleted. */
  readonly history: Pairs | null;
  /** Events of other types that a model uses; empty if they were not read. */
  readonly others: ReadonlyMap<string, Pairs>;
  /** Whether a model uses the times of events. */
  readonly withTimes: boolean;
  /** State of the events that were read: the last sequence number, and the count of deletions. */
  readonly lastSeq: number;
  readonly deletions: number;
  /** Count of deletions up to which forgotten users are removed from the models. */
  readonly forgottenUntil: number;
  /** Number of item upserts so far. */
  readonly itemChanges: number;
}

/** Reads the models of a deployment and combines them with the current events and items. */
export async function build(
  db: Db,
  files: Files,
  { data, generator, ranker, withEvents }: BuildTask,
): Promise<Build> {
  // Read before the list of forgotten users, so nobody who is forgotten in between is missed later.
  const forgottenUntil = await deletionCount(db, data.events.id);
  const read = async (model: ModelSource) =>
    readServable(files, model, await forgottenSince(db, data.events.id, model.seenDeletions));
  // Models are read outside of the snapshot, because the database cannot clean up during a long snapshot.
  const first = await read(generator);
  const second = ranker && (await read(ranker));
  return snapshot(db, async (frozen) => {
    const users = new IdIndex([...first.userIds]);
    const items = new IdIndex([...first.itemIds]);
    const own = new ItemPlacing(first, items, false);
    const others = second && new ItemPlacing(second, new IdIndex([...second.itemIds]), true);
    await eachRecord(frozen, data.items.number, (id, attributes) => {
      own.add(items.add(id), attributes);
      others?.add(others.items.find(id), attributes);
    });
    const deletions = await deletionsOf(frozen, data.events);
    const hasEvents = withEvents && deletions !== undefined;
    const withTimes = usesTimes([first.model, second?.model]);
    const types = [data.targetEventType, ...otherTypes([first.model, second?.model])];
    const events = new Map(types.map((type) => [type, new InteractionsBuilder()]));
    if (hasEvents) {
      await eachEvent(frozen, data, types, (userId, itemId, weight, ts, type) =>
        events.get(type)?.add(users.add(userId), items.add(itemId), weight, withTimes ? ts : undefined),
      );
    }
    const pairs = new Map(
      [...events].map(([type, builder]) => [type, builder.pairs(users.ids.length, items.ids.length)]),
    );
    const history = pairs.get(data.targetEventType) as Pairs;
    pairs.delete(data.targetEventType);
    return {
      generator: own.placed(),
      ranker: others?.placed() ?? null,
      userIds: users.ids,
      itemIds: items.ids,
      history: hasEvents ? history : null,
      others: hasEvents ? pairs : new Map(),
      withTimes,
      lastSeq: await lastSeqIn(frozen),
      deletions: deletions ?? 0,
      forgottenUntil,
      itemChanges: await changesOf(frozen, data.items),
    };
  });
}

/** Returns the event types besides the target event that the models use. */
export function otherTypes(models: readonly (Pick<ServableModel, "eventRule"> | undefined)[]): string[] {
  return [...new Set(models.flatMap((model) => Object.keys(model?.eventRule?.weights ?? {})))].sort();
}

/** Returns whether a model needs the times of events. */
export function usesTimes(models: readonly (Pick<ServableModel, "order"> | undefined)[]): boolean {
  return models.some((model) => model?.order !== undefined);
}

/**
 * Collects the attributes of items without training events, to compute their vectors, and the ranking features of
 * items.
 */
class ItemPlacing {
  private readonly attributes = new Map<number, Attributes>();
  private readonly features: (Features | undefined)[] = [];
  private readonly read: ((attributes: Attributes) => Features) | null;

  constructor(
    private readonly stored: Stored<ServableModel>,
    readonly items: IdIndex,
    ranks: boolean,
  ) {
    const { ranking, itemAttributes } = stored.model;
    this.read =
      ranks && ranking?.weights.length && itemAttributes ? featureReader(itemAttributes.space) : null;
  }

  add(item: number | undefined, attributes: Attributes): void {
    if (item === undefined) return;
    if (!this.stored.model.learned.itemUsers[item]) this.attributes.set(item, attributes);
    if (this.read) this.features[item] = this.read(attributes);
  }

  placed(): PlacedModel {
    const itemVectors = placedVectors(this.stored.model, this.items.ids.length, this.attributes);
    return { ...this.stored, itemVectors, features: this.features };
  }
}
