import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import type { Seed } from "../../service";

const directory = join(__dirname, "../../examples/quickstart/data");

function rows(file: string): Record<string, string>[] {
  return parse(readFileSync(join(directory, file)), { columns: true });
}

/** Returns the data of the quick start's record shop. */
export function recordShop(): Seed {
  return {
    name: "record-shop",
    targetEventType: "purchase",
    users: rows("users.csv").map(({ userId = "", country, age }) => ({
      userId,
      attributes: { country, age: Number(age) },
    })),
    items: rows("items.csv").map(({ itemId = "", title, genre, year }) => ({
      itemId,
      attributes: { title, genre, year: Number(year) },
    })),
    events: rows("events.csv").map(({ userId = "", itemId = "", ts = "", eventType = "", eventValue }) => ({
      userId,
      itemId,
      ts: Date.parse(ts),
      eventType,
      eventValue: Number(eventValue),
    })),
    qps: 10,
  } as Seed;
}
