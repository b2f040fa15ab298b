import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Goal, type Outcome, resultsDirectory } from "./report";

const document = join(__dirname, "..", "..", "docs", "performance.md");
const marks = { begin: "<!-- results: begin -->", end: "<!-- results: end -->" };

/** Returns docs/performance.md as it is, and as it should be with the committed results. */
export function performanceDocument(): { readonly is: string; readonly shouldBe: string } {
  const is = readFileSync(document, "utf8");
  const [head, rest = ""] = is.split(marks.begin);
  const tail = rest.slice(rest.indexOf(marks.end));
  return { is, shouldBe: `${head}${marks.begin}\n\n${tables()}\n${tail}` };
}

/** Writes the committed results to docs/performance.md. */
export function updateDocument(): void {
  writeFileSync(document, performanceDocument().shouldBe);
}

function tables(): string {
  const files = readdirSync(resultsDirectory).filter((file) => file.endsWith(".json"));
  return files.sort().map(tableOf).join("\n");
}

function tableOf(file: string): string {
  const {
    goals,
    machine,
    rows: beside = [],
  } = JSON.parse(readFileSync(join(resultsDirectory, file), "utf8")) as Pick<Outcome, "rows"> & {
    goals: Goal[];
    machine: { cpu: string; cores: number; memoryBytes: number; node: string };
  };
  const gigabytes = Math.round(machine.memoryBytes / 1e9);
  const rows = goals.map(
    ({ name, goal, value, met }) => `| ${name} | ${goal} | ${value} | ${met ? "✓" : "**missed**"} |`,
  );
  return [
    `### ${file.replace(".json", "")}`,
    "",
    "| what | goal | measured | |",
    "|---|---|---|---|",
    ...rows,
    "",
    ...besideGoals(beside),
    `${machine.cores} cores of ${machine.cpu}, ${gigabytes} GB, Node.js ${machine.node}`,
    "",
  ].join("\n");
}

function besideGoals(rows: NonNullable<Outcome["rows"]>): string[] {
  const [first] = rows;
  if (!first) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const columns = Object.keys(first);
  return [line(columns), line(columns.map(() => "---")), ...rows.map((row) => line(Object.values(row))), ""];
}

if (require.main === module) updateDocument();
