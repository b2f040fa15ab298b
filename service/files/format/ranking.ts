import { z } from "zod";
import { type FeatureSpace, LATEST, NONE, type Ranking, rankingFeatures, unchanged } from "../../algorithms";
import { FormatError, type OpenSections, type Section } from "./sections";

/** Header of a ranking. */
export const rankingHeader = z.object({ weights: z.array(z.number()) });

/** Returns the header of a ranking. */
export function writtenRanking(ranking: Ranking | null): z.output<typeof rankingHeader> | null {
  return ranking && { weights: [...ranking.weights] };
}

/** Returns the sections of a ranking. Empty if the ranking changes nothing. */
export function rankingSections(ranking: Ranking | null): Record<string, Section> {
  if (!ranking || ranking.weights.length === 0) return {};
  const { late, age, latest, usual } = ranking;
  return {
    ranking_late: { values: late, shape: [late.length] },
    ranking_age: { values: age, shape: [age.length] },
    ranking_latest: { values: latest, shape: [latest.length / LATEST, LATEST] },
    ranking_usual: { values: usual, shape: [usual.length] },
  };
}

/** Reads and checks a ranking. */
export async function readRanking(
  sections: OpenSections,
  header: z.output<typeof rankingHeader> | null,
  model: { readonly users: number; readonly items: number; readonly features: FeatureSpace | undefined },
): Promise<Ranking | null> {
  if (!header) return null;
  const { weights } = header;
  if (weights.length === 0) return unchanged();
  const features = rankingFeatures(model.features ?? null);
  if (weights.length !== features)
    throw new FormatError(`has ${weights.length} ranking weights instead of ${features}`);
  const numbers = async (name: string, length: number) => {
    const values = await sections.read(name, "float32", [length]);
    if (!values.every(Number.isFinite)) throw new FormatError(`has a value in ${name} that is not finite`);
    return values;
  };
  const latest = await sections.read("ranking_latest", "uint32", [model.users, LATEST]);
  if (latest.some((item) => item !== NONE && item >= model.items))
    throw new FormatError("has items in ranking_latest beyond the last item");
  return {
    weights,
    late: await numbers("ranking_late", model.items),
    age: await numbers("ranking_age", model.items),
    latest,
    usual: await numbers("ranking_usual", model.features?.size ?? 0),
  };
}
