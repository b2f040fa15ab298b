import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pythonWith } from "./cache";
import { cut, quality } from "./measure";
import type { Split } from "./split";

const version = "0.7.3";
const grid = [32, 64, 128].flatMap((factors) =>
  [0.01, 0.1].flatMap((regularization) => [1, 10, 40].map((alpha) => ({ factors, regularization, alpha }))),
);

/** The best that `implicit` comes to on the very pairs it is measured on: the choice errs in its favour. */
export function implicitAls({ train, wanted }: Split) {
  const python = pythonWith("implicit", version);
  const users = placesOf(train.map(({ user }) => user));
  const items = placesOf(train.map(({ item }) => item));
  const input = JSON.stringify({
    rows: train.map(({ user }) => users.get(user)),
    columns: train.map(({ item }) => items.get(item)),
    shape: [users.size, items.size],
    grid,
    cut,
  });
  const output = execFileSync(python, [join(__dirname, "als.py")], { input, maxBuffer: 2 ** 30 });
  const answers = JSON.parse(String(output)) as { seconds: number; ranked: number[][] }[];
  const itemIds = [...items.keys()];
  const measured = answers.map(({ seconds, ranked }, at) => {
    const lists = new Map(
      [...users.keys()].map((user, place) => [
        user,
        (ranked[place] as number[]).flatMap((item) => itemIds[item] ?? []),
      ]),
    );
    return { ...quality(lists, wanted), ...grid[at], seconds };
  });
  const best = measured.reduce((a, b) => (b.ndcg20 > a.ndcg20 ? b : a));
  return { version, ...best, gridSeconds: measured.reduce((total, { seconds }) => total + seconds, 0) };
}

function placesOf(ids: readonly string[]): Map<string, number> {
  return new Map([...new Set(ids)].map((id, place) => [id, place]));
}
