import type { JsonMap } from "../../contract";
import type { EventRule, Preferences, UserItem } from "../algorithms";
import type { Deployed } from "./deployed";
import { candidatesFor } from "./deployed-context";
import type { ServedModel } from "./served-model";

/** Whom to recommend to: a user with other events than he has, or somebody of whom only attributes are known. */
export interface WhatIf {
  readonly userId?: string | undefined;
  /** In place of what the service has of him. */
  readonly attributes?: JsonMap | undefined;
  readonly add: readonly { readonly itemId: string; readonly weight: number }[];
  readonly remove: readonly string[];
  readonly limit: number;
  /** Whether the call names the project. */
  readonly isAddressed?: boolean;
}

/** One recommended item with its score, and what led to it. */
export interface Explained {
  readonly itemId: string;
  readonly score: number;
  readonly reasons: readonly {
    readonly itemId: string;
    readonly adds: number;
    readonly neighbours: number;
  }[];
  /** Where the user is known by attributes: what each of them adds. */
  readonly byAttributes: readonly { readonly attribute: string; readonly adds: number }[];
  /** The part of the score that no item of the user explains. */
  readonly rest: number;
}

/** What a deployment answers, and what for. */
export interface Answered {
  readonly basis: "events" | "training" | "attributes" | "popularity";
  readonly own: readonly { readonly itemId: string; readonly weight: number }[];
  readonly items: readonly Explained[];
  /** The model whose scores are given. */
  readonly modelId: string;
  /** The model that put the items in another order than that of the scores. */
  readonly rankedBy: string | null;
}

/** The recommendations that a deployment would give, each with the user's own items that lead to it; nothing is stored. */
export async function whatIf(deployed: Deployed, asked: WhatIf): Promise<Answered> {
  const { generator, ranker } = deployed;
  const { userId } = asked;
  const events = userId === undefined ? undefined : await deployed.eventsOf(userId, asked.isAddressed);
  const hadAlready = new Set(events ? deployed.had(events) : []);
  const place = (id: string) => deployed.items.find(id);
  for (const id of asked.remove) {
    const item = place(id);
    if (item !== undefined) hadAlready.delete(item);
  }
  const unknown = new Map<string, number>();
  for (const { itemId, weight } of asked.add) {
    const item = place(itemId);
    if (item === undefined) unknown.set(itemId, weight);
    else hadAlready.add(item);
  }
  const ownBy = (rule: EventRule | undefined): UserItem[] => {
    const pairs = new Map((events?.weights(rule) ?? []).map(({ item, weight }) => [item, weight]));
    for (const id of asked.remove) pairs.delete(place(id) ?? -1);
    for (const { itemId, weight } of asked.add) {
      const item = place(itemId);
      if (item !== undefined) pairs.set(item, (pairs.get(item) ?? 0) + weight);
    }
    return [...pairs].map(([item, weight]) => ({ item, weight })).filter(({ weight }) => weight > 0);
  };
  const isChanged = asked.add.length > 0 || asked.remove.length > 0;
  const record =
    asked.attributes ?? (userId === undefined ? undefined : await deployed.attributesOfUser(userId));
  const preferencesIn = (
    served: ServedModel,
  ): { preferences: Preferences | null; from: Answered["basis"]; items: UserItem[] } => {
    const items = deployed.placed({ weights: ownBy }, served);
    const user = userId === undefined ? undefined : served.users.find(userId);
    // Where the event dataset is deleted, what the training learned is all there is.
    const learned =
      events === null && !isChanged && user !== undefined
        ? served.recommender.learnedPreferences(user)
        : null;
    if (learned) return { preferences: learned, from: "training", items: [] };
    const preferences = served.recommender.preferencesFromItems(items, user);
    if (preferences) return { preferences, from: "events", items };
    const cold = served.recommender.preferencesFromAttributes(record);
    return { preferences: cold, from: cold ? "attributes" : "popularity", items: [] };
  };
  const first = preferencesIn(generator);
  const wanted = candidatesFor(asked.limit, deployed);
  const candidates = generator.recommender.candidates(first.preferences, wanted, hadAlready);
  const scores = generator.recommender.foundScores(candidates);
  // One that has learned to rank has no scores of its own.
  const isRanking = ranker !== undefined && ranker.ranking !== null;
  const served = ranker && !isRanking ? ranker : generator;
  const last = served === generator ? first : preferencesIn(served);
  const ordered = ranker?.order(candidates, {
    ...{ scores, placed: deployed.items, userId, preferences: last.preferences },
    own: () => deployed.placed({ weights: ownBy }, ranker),
  });
  const best = generator.recommender.spread(ordered ?? candidates, asked.limit);
  const idOf = (item: number) => deployed.items.ids[item] as string;
  const targets = best.map((item) => (served === generator ? item : (served.items.find(idOf(item)) ?? -1)));
  const shown = served.recommender.scoresOf(targets, last.preferences);
  const known = targets.filter((item) => item !== -1);
  const parts = last.items.length > 0 ? served.recommender.explain(last.items, known) : [];
  const attributeParts =
    last.from === "attributes" ? served.recommender.explainAttributes(record, known) : [];
  const items = best.map((item, at): Explained => {
    const target = known.indexOf(targets[at] as number);
    const score = shown[at] as number;
    const by = served.recommender.penaltyOn(targets[at] as number, score);
    const reasons = (target === -1 ? [] : parts)
      .map((part) => {
        const neighbours = by * (part.neighbours[target] as number);
        const adds = by * (part.vectors[target] as number) + neighbours;
        return { itemId: served.items.ids[part.item] as string, adds, neighbours };
      })
      .sort((a, b) => b.adds - a.adds);
    const byAttributes = (target === -1 ? [] : attributeParts)
      .map(({ attribute, adds }) => ({ attribute, adds: by * (adds[target] as number) }))
      .sort((a, b) => b.adds - a.adds);
    return {
      ...{ itemId: idOf(item), score, reasons, byAttributes },
      rest: score - reasons.reduce((sum, { adds }) => sum + adds, 0),
    };
  });
  const ownItems = [
    ...ownBy(generator.eventRule).map(({ item, weight }) => ({ itemId: idOf(item), weight })),
    ...[...unknown].map(([itemId, weight]) => ({ itemId, weight })),
  ];
  const { generator_model_id, ranker_model_id } = deployed.row;
  return {
    ...{ basis: last.from, own: ownItems, items },
    modelId: served === generator ? generator_model_id : (ranker_model_id as string),
    rankedBy: isRanking && ordered !== candidates ? ranker_model_id : null,
  };
}
