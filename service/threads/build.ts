import {
  type Attributes,
  type Features,
  featureReader,
  InteractionsBuilder,
  type Pairs,
  placedVectors,
  type ServableModel,
} from "../algorithms";
import { Places } from "../base/places";
import type { Stored } from "../files/format/model";
import { type ModelSource, readServable } from "../files/models";
import type { Files } from "../files/places/files";
import type { Db } from "../store/database";
import { lastSeqIn } from "../store/events";
import { forgettingsOf, forgottenSince } from "../store/forgotten";
import type { ProjectData } from "../store/project-data";
import { changesOf, deletionsOf, eachEvent, eachRecord, snapshot } from "../store/snapshot";

/** A deployment as a thread prepares it. */
export interface BuildTask {
  readonly kind: "DEPLOYMENT";
  readonly data: ProjectData;
  readonly generator: ModelSource;
  readonly ranker: ModelSource | null;
  /** Whether the events are read too: where several processes write them, each answer reads its user's. */
  readonly withEvents: boolean;
}

/** A model with the items as they are now: those without events are where their attributes place them. */
export interface PlacedModel extends Stored<ServableModel> {
  readonly itemVectors: Float32Array;
  /** What the items' attributes are in the model's space, where it ranks by them. */
  readonly features: (Features | undefined)[];
}

/** All that a deployment needs to serve. Users and items are numbered as in the generator; those that came after its
 * training follow. */
export interface Build {
  readonly generator: PlacedModel;
  readonly ranker: PlacedModel | null;
  readonly userIds: string[];
  readonly itemIds: string[];
  /** The target events of each user; null where they were not read, or the event dataset was deleted. */
  readonly history: Pairs | null;
  /** Events of the other types that a model counts, where they were read. */
  readonly others: ReadonlyMap<string, Pairs>;
  /** The state of the events that was read: their last seq, and how often some were deleted. */
  readonly lastSeq: number;
  readonly deletions: number;
  /** The number of deletions up to which the models know nobody whose events are deleted. */
  readonly forgottenUntil: number;
  /** How many upserts of items had been made. */
  readonly itemChanges: number;
}

/** Brings the models together with the events and items as they stand now. */
export async function build(
  db: Db,
  files: Files,
  { data, generator, ranker, withEvents }: BuildTask,
): Promise<Build> {
  // Read before it is asked who is forgotten: who comes after that has a higher number, and the deployment lets him go.
  const forgottenUntil = await forgettingsOf(db, data.events.id);
  const read = async (model: ModelSource) =>
    readServable(files, model, await forgottenSince(db, data.events.id, model.seenDeletions));
  // A model only ever loses users, and a snapshot that waits for them would keep the database from tidying up.
  const first = await read(generator);
  const second = ranker && (await read(ranker));
  return snapshot(db, async (frozen) => {
    const users = new Places([...first.userIds]);
    const items = new Places([...first.itemIds]);
    const own = new ItemPlacing(first, items, false);
    const others = second && new ItemPlacing(second, new Places([...second.itemIds]), true);
    await eachRecord(frozen, data.items.number, (id, attributes) => {
      own.add(items.of(id), attributes);
      others?.add(others.items.find(id), attributes);
    });
    const deletions = await deletionsOf(frozen, data.events);
    const hasEvents = withEvents && deletions !== undefined;
    const types = [data.targetEventType, ...otherTypes([first.model, second?.model])];
    const events = new Map(types.map((type) => [type, new InteractionsBuilder()]));
    if (hasEvents) {
      await eachEvent(frozen, data, types, (userId, itemId, weight, _, type) =>
        events.get(type)?.add(users.of(userId), items.of(itemId), weight),
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
      lastSeq: await lastSeqIn(frozen),
      deletions: deletions ?? 0,
      forgottenUntil,
      itemChanges: await changesOf(frozen, data.items),
    };
  });
}

/** The types of events beside the target event that some models count. */
export function otherTypes(models: readonly (Pick<ServableModel, "eventRule"> | undefined)[]): string[] {
  return [...new Set(models.flatMap((model) => Object.keys(model?.eventRule?.weights ?? {})))].sort();
}

/** Gathers the attributes of the items that no event of a model's training placed. */
class ItemPlacing {
  private readonly attributes = new Map<number, Attributes>();
  private readonly features: (Features | undefined)[] = [];
  private readonly read: ((attributes: Attributes) => Features) | null;

  constructor(
    private readonly stored: Stored<ServableModel>,
    readonly items: Places,
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
