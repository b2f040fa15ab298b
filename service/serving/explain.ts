import type { AppliedRule } from "../../contract";
import { choiceOf, type Restrictions } from "./choice";
import type { Deployed } from "./deployed";
import { type Basis, EditedPerson, type Edits } from "./person";
import { type Recommended, recommendTo } from "./recommend";

/** One recommended item with its score, and the reasons for it. */
export interface Explained {
  readonly itemId: string;
  readonly score: number;
  /** The user's items, with how much each adds to the score. `neighbours` is the part that comes from similar users,
   * `order` the part that comes from how recently the user chose the item. */
  readonly reasons: readonly {
    readonly itemId: string;
    readonly adds: number;
    readonly neighbours: number;
    readonly order: number;
  }[];
  /** How much each attribute of the user adds to the score, if the preferences come from attributes. */
  readonly byAttributes: readonly { readonly attribute: string; readonly adds: number }[];
  /** The part of the score that no item of the user explains. */
  readonly rest: number;
  /** What the rules of the deployment did to the item. The score is from before the rules. */
  readonly rules: readonly AppliedRule[];
}

/** Recommendations with their reasons. */
export interface Explanation {
  readonly basis: Basis;
  /** The user's own items. */
  readonly own: readonly { readonly itemId: string; readonly weight: number }[];
  readonly items: readonly Explained[];
  /** Id of the model that computed the scores. */
  readonly modelId: string;
  /** Id of the ranker, if it changed the order by a learned ranking; otherwise null. */
  readonly rankedBy: string | null;
}

/** Computes what a deployment would recommend, with the reasons for each item. Nothing is stored. */
export async function explain(
  deployed: Deployed,
  asked: Edits & Restrictions & { readonly limit: number },
): Promise<Explanation> {
  const { generator, ranker, row } = deployed;
  const person = await EditedPerson.read(deployed, asked);
  const choice = await choiceOf(deployed, asked, person);
  const recommended = await recommendTo(deployed, person, asked.limit, choice);
  const added = new Map(asked.add.map(({ itemId, weight }) => [itemId, weight]));
  const unknown = [...added].filter(([itemId]) => deployed.items.find(itemId) === undefined);
  const own = person.weights(generator.eventRule).map(({ item, weight }) => ({
    itemId: deployed.items.ids[item] as string,
    weight,
  }));
  return {
    basis: recommended.basis,
    own: [...own, ...unknown.map(([itemId, weight]) => ({ itemId, weight }))],
    items: explainItems(deployed, person, recommended),
    modelId: recommended.scorer === generator ? row.generator_model_id : (row.ranker_model_id as string),
    rankedBy: ranker?.ranking && recommended.isReordered ? row.ranker_model_id : null,
  };
}

function explainItems(deployed: Deployed, person: EditedPerson, recommended: Recommended): Explained[] {
  const { scorer, preferences, basis } = recommended;
  const { recommender } = scorer;
  const ids = recommended.items.map((item) => deployed.items.ids[item] as string);
  const targets = ids.map((id) => scorer.items.find(id) ?? -1);
  const scores = recommender.scoresOf(targets, preferences);
  const known = targets.filter((item) => item !== -1);
  const parts = basis === "events" ? recommender.explain(person.eventsIn(scorer), known) : [];
  const attributeParts =
    basis === "attributes" ? recommender.explainAttributes(person.attributes, known) : [];
  return ids.map((itemId, at): Explained => {
    const target = known.indexOf(targets[at] as number);
    const score = scores[at] as number;
    const by = recommender.penaltyOn(targets[at] as number, score);
    const reasons = (target === -1 ? [] : parts).map((part) => {
      const neighbours = by * (part.neighbours[target] as number);
      const order = by * (part.order[target] as number);
      const adds = by * (part.vectors[target] as number) + neighbours + order;
      return { itemId: scorer.items.ids[part.item] as string, adds, neighbours, order };
    });
    const byAttributes = (target === -1 ? [] : attributeParts).map(({ attribute, adds }) => ({
      attribute,
      adds: by * (adds[target] as number),
    }));
    return {
      itemId,
      score,
      reasons: reasons.sort(byAdds),
      byAttributes: byAttributes.sort(byAdds),
      rest: score - reasons.reduce((sum, { adds }) => sum + adds, 0),
      rules: recommended.applied(recommended.items[at] as number),
    };
  });
}

function byAdds(a: { readonly adds: number }, b: { readonly adds: number }): number {
  return b.adds - a.adds;
}
