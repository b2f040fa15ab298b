import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pythonWith } from "./cache";
import { cut, quality } from "./measure";
import type { Split } from "./split";

const version = "0.7.3";
const alsGrid = [32, 64, 128].flatMap((factors) =>
  [0.01, 0.1].flatMap((regularization) => [1, 10, 40].map((alpha) => ({ factors, regularization, alpha }))),
);
const graphGrid = [0, 0.3].map((share) => ({ kind: "graph filter", share }));
const easeGrid = [100, 300, 1000].map((penalty) => ({ kind: "EASE", penalty }));
/** The largest catalog for EASE, which inverts an items × items matrix. */
const mostItems = 6000;

/** Number of pairs above which the smallest dimensions are not tried. */
const many = 500_000;

/** ALS of `implicit`. */
export function implicitAls(split: Split) {
  const grid = split.train.length > many ? alsGrid.filter(({ factors }) => factors > 32) : alsGrid;
  return { version, ...bestOf("als.py", grid, split) };
}

/** The training-free graph filter GF-CF, and only its linear part. */
export function graphFilter(split: Split) {
  return bestOf("filters.py", graphGrid, split);
}

/** EASE; null if the catalog is too large. */
export function ease(split: Split) {
  const items = new Set(split.train.map(({ item }) => item)).size;
  return items > mostItems ? null : bestOf("filters.py", easeGrid, split);
}

/** Returns the best of a grid on the test pairs themselves, which favours the other algorithms over ours. */
function bestOf<P extends object>(script: string, grid: readonly P[], { train, wanted }: Split) {
  const users = placesOf(train.map(({ user }) => user));
  const items = placesOf(train.map(({ item }) => item));
  const input = JSON.stringify({
    rows: train.map(({ user }) => users.get(user)),
    columns: train.map(({ item }) => items.get(item)),
    shape: [users.size, items.size],
    grid,
    cut,
  });
  const python = pythonWith("implicit", version);
  const output = execFileSync(python, [join(__dirname, script)], { input, maxBuffer: 2 ** 30 });
  const answers = JSON.parse(String(output)) as { seconds: number; ranked: number[][] }[];
  const itemIds = [...items.keys()];
  const measured = answers.map(({ seconds, ranked }, at) => {
    const lists = new Map(
      [...users.keys()].map((user, place) => [
        user,
        (ranked[place] as number[]).flatMap((item) => itemIds[item] ?? []),
      ]),
    );
    return { ...quality(lists, wanted), ...(grid[at] as P), seconds };
  });
  const best = measured.reduce((a, b) => (b.ndcg20 > a.ndcg20 ? b : a));
  return { ...best, gridSeconds: measured.reduce((total, { seconds }) => total + seconds, 0) };
}

function placesOf(ids: readonly string[]): Map<string, number> {
  return new Map([...new Set(ids)].map((id, place) => [id, place]));
}
