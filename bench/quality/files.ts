import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { JsonMap } from "../../contract";
import type { DataSet, Pair } from "./data";
import { leaveLastOut, type Split } from "./split";

const secondsPerDay = 86_400;
/** Sequences have no times, so the times of their items begin here and are a day apart. */
const firstTime = 1_600_000_000;

/** Files to measure instead of the usual datasets. Each line contains a user and then the user's items. */
export type GivenFiles =
  | { readonly kind: "sequences"; readonly sequences: string }
  | { readonly kind: "split"; readonly train: string; readonly test: string };

/** Returns the files in the arguments `--sequences FILE` or `--train FILE --test FILE`; undefined if there are none. */
export function givenFiles(args: readonly string[]): GivenFiles | undefined {
  const optionOf = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const [sequences, train, test] = ["--sequences", "--train", "--test"].map(optionOf);
  if (sequences) return { kind: "sequences", sequences };
  if (train && test) return { kind: "split", train, test };
  if (args.length === 0) return undefined;
  throw new Error("Pass --sequences FILE, or --train FILE and --test FILE.");
}

/** Reads the files: training data and held-out items, and a dataset with all users and items. */
export function readFiles(files: GivenFiles): { readonly set: DataSet; readonly split: Split } {
  if (files.kind === "sequences") {
    const rows = rowsOf(files.sequences);
    return { set: setOf(files.sequences, rows), split: leaveLastOut(pairsInOrder(rows)) };
  }
  const [train, test] = [rowsOf(files.train), rowsOf(files.test)];
  const wanted = new Map(test.map(([user = "", ...items]) => [user, new Set(items)]));
  for (const [user, items] of wanted) if (items.size === 0) wanted.delete(user);
  const pairs = train.flatMap(([user = "", ...items]) =>
    items.map((item) => ({ user, item, time: firstTime })),
  );
  return { set: setOf(files.train, [...train, ...test]), split: { train: pairs, wanted } };
}

/** Returns the pairs in some rows. Each row is a user and then the user's items, earliest first. */
export function pairsInOrder(rows: readonly (readonly string[])[]): Pair[] {
  return rows.flatMap(([user = "", ...items]) =>
    items.map((item, at) => ({ user, item, time: firstTime + at * secondsPerDay })),
  );
}

function rowsOf(file: string): string[][] {
  const bytes = readFileSync(file);
  const text = file.endsWith(".gz") ? gunzipSync(bytes) : bytes;
  return String(text)
    .split(/\r?\n/)
    .map((line) => line.trim().split(/\s+/))
    .filter(([user]) => user !== "");
}

function setOf(name: string, rows: readonly (readonly string[])[]): DataSet {
  const none = (ids: readonly string[]) => new Map(ids.map((id): [string, JsonMap] => [id, {}]));
  return {
    name,
    pairs: [],
    users: none(rows.map(([user = ""]) => user)),
    items: none(rows.flatMap(([, ...items]) => items)),
  };
}
