import { type Attributes, featureReader } from "../attributes";
import { choleskySolver, dot } from "../linear-algebra";
import type { Neighbours } from "../neighbours";
import type { AttributeModel } from "../training/cold-start";
import type { Entries, FoldIn, UserItem } from "./fold-in";
import type { OrderPart } from "./order-part";

/** How much one of a user's items adds to the scores of the target items. */
export interface Contribution {
  readonly item: number;
  /** Part that comes from the vectors, for each target item. */
  readonly vectors: Float64Array;
  /** Part that comes from similar users, for each target item. */
  readonly neighbours: Float64Array;
  /** Part that comes from the order of events, for each target item. */
  readonly order: Float64Array;
}

/**
 * Splits the scores of the target items into one part per item of the user. A folded-in vector is a sum over the user's
 * items, x = A⁻¹ Σ right · y, so the score of a target z is Σ right · zᵀA⁻¹y. Neighbour scores are already a sum over
 * the user's items, and so are the scores from the order of events.
 */
export function contributions(
  folding: FoldIn,
  { neighbours, order }: { readonly neighbours: Neighbours | null; readonly order: OrderPart | null },
  items: readonly UserItem[],
  targets: { readonly items: readonly number[]; readonly rows: readonly Float32Array[] },
): Contribution[] {
  const equations = folding.entriesOf(items);
  const solve = equationSolver(folding, equations);
  const solved = targets.rows.map(solve);
  const chosen = equations.entries.map(({ item }) => item);
  const byNeighbours = neighbours?.contributions(chosen, targets.items);
  const known = new Set(chosen);
  const byOrder = order?.contributions(
    items.filter(({ item }) => known.has(item)),
    targets.items,
  );
  return equations.entries.map(({ item, right }, at) => {
    const row = folding.vectorOf(item);
    return {
      item,
      vectors: Float64Array.from(solved, (of) => right * dot(of, row)),
      neighbours: byNeighbours?.[at] ?? new Float64Array(targets.items.length),
      order: byOrder?.get(item) ?? new Float64Array(targets.items.length),
    };
  });
}

/** How much one attribute of a user adds to the scores of the target items. */
export interface AttributePart {
  readonly attribute: string;
  readonly adds: Float64Array;
}

/**
 * Splits scores into one part per attribute of the user. A vector from attributes is a sum over their features plus a
 * constant, which belongs to no attribute.
 */
export function attributeParts(
  { space, map }: AttributeModel,
  attributes: Attributes | undefined,
  rows: readonly Float32Array[],
): AttributePart[] {
  const { places, values } = featureReader(space)(attributes);
  return space.attributes.flatMap((one) => {
    const end = one.at + (one.kind === "CATEGORICAL" ? one.categories.length : 1);
    const own = Array.from(places.keys()).filter((k) => {
      const place = places[k];
      return place >= one.at && place < end;
    });
    if (own.length === 0) return [];
    const vector = new Float64Array(map.stride);
    for (const k of own) {
      const from = places[k] * map.stride;
      for (let d = 0; d < map.stride; d++) vector[d] += values[k] * map.weights[from + d];
    }
    return [{ attribute: one.name, adds: Float64Array.from(rows, (row) => dot(vector, row)) }];
  });
}

/** Factors the matrix A of a user's equations, to solve A x = b for any b. */
function equationSolver(
  folding: FoldIn,
  { entries, ridge, base }: Entries,
): (b: Float32Array) => Float64Array {
  const size = base.length;
  const lower = new Float64Array(size * size);
  for (let k = 0; k < size; k++) lower[k * size + k] = base[k] + ridge;
  for (const { item, weight } of entries) {
    const row = folding.vectorOf(item);
    for (let i = 0; i < size; i++)
      for (let j = 0; j <= i; j++) lower[i * size + j] += weight * row[i] * row[j];
  }
  const solve = choleskySolver(lower, size);
  return (b) => solve(Float64Array.from(b));
}
