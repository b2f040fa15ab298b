import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Loading, userLines } from "./loading";
import { runCommand } from "./run-command";

let loading: Loading;
beforeAll(async () => {
  loading = await Loading.start();
});
afterAll(() => loading.end());

type How = Parameters<typeof runCommand>[2];
/** Runs a command and joins the lines that it wraps for a terminal. */
const run = async (args: readonly string[], how: How = {}) => {
  const ended = await runCommand(loading, args, how);
  return { ...ended, stderr: ended.stderr.replace(/\s+/g, " ").trim() };
};
const into = (kind: "users" | "events", source: string, ...more: string[]) => [
  ...["import", kind, source],
  ...more,
];
const messy = "customer,product,time\nann,1,2026-11-15\n";

describe("the exit code", () => {
  test("depends only on the options of this command", async () => {
    const id = await loading.dataset("users");
    loading.directory.write("some.csv", "user_id,age\na,1\n,2\n,3\n");
    const command = into("users", "some.csv", "--dataset", id, "--json");
    expect(await run([...command, "--max-failures", "2"])).toMatchObject({ code: 0, upserts: 1 });
    const strict = await run(command);
    expect(strict).toMatchObject({ code: 2, upserts: 0 });
    expect(JSON.parse(strict.stdout)).toMatchObject({ recordCount: 1, failedCount: 2, sentCount: 0 });
    expect(await run([...command, "--max-failures", "2"])).toMatchObject({ code: 0, upserts: 0 });
  });

  test("2 prints the result as JSON", async () => {
    const id = await loading.dataset("users");
    loading.directory.write("two.csv", "user_id,age\na,1\n,2\n");
    const refused = await run(into("users", "two.csv", "--dataset", id, "--json"));
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stdout)).toEqual({
      ...{ recordCount: 1, failedCount: 1, sentCount: 1 },
      contentHash: expect.stringMatching(/^sha256:/),
      seconds: expect.any(Number),
      rejectsFile: "recommender-rejects-two.csv.ndjson",
      error: { message: expect.stringMatching(/^1 record was rejected, but --max-failures is 0/) },
    });
  });

  test("2 prints the line for .gitignore until Git ignores the rejects file", async () => {
    const id = await loading.dataset("users");
    const git = (...args: string[]) => execFileSync("git", ["-C", loading.directory.path, ...args]);
    git("init", "--quiet");
    loading.directory.write("three.csv", "user_id,age\na,1\n,2\n");
    const command = into("users", "three.csv", "--dataset", id);
    const hint = "Add recommender-rejects-* to .gitignore: recommender-rejects-three.csv.ndjson has rejected";
    expect((await run(command)).stderr).toContain(hint);
    loading.directory.write(".gitignore", "recommender-rejects-*\n");
    const again = await run(command);
    expect(again).toMatchObject({ code: 2, stderr: expect.not.stringContaining(".gitignore") });
    rmSync(join(loading.directory.path, ".git"), { recursive: true });
  });

  test("0 prints a note if the source is empty", async () => {
    loading.directory.write("empty.csv", "user_id,age\n");
    const id = await loading.dataset("users");
    const empty = await run(into("users", "empty.csv", "--dataset", id));
    expect(empty).toMatchObject({ code: 0, stdout: "The source has no users\n" });
  });

  test("1 prints the error as JSON on stdout, and as text on stderr", async () => {
    const failed = await run(into("users", "none.csv", "--dataset", "d", "--json"));
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^none\.csv: no such file/),
    });
    expect(JSON.parse(failed.stdout)).toEqual({
      error: { message: expect.stringMatching(/^none\.csv: no such file/) },
    });
  });
});

test.each([
  [["--force"], "Run the same command without --force to continue"],
  [[], "Run the same command to continue"],
] as const)("Ctrl+C with %j prints %j, and the next import does that", async (options, said) => {
  const id = await loading.dataset("users");
  const source = `long-${options.length}.ndjson`;
  loading.directory.write(source, userLines(0, 60_000));
  const command = into("users", source, "--dataset", id);
  const how = { killAfterUpserts: 10, signal: "SIGINT" } as const;
  const interrupted = await run([...command, ...options], how);
  expect(interrupted).toMatchObject({ code: 130, stderr: expect.stringContaining(`Interrupted. ${said}`) });
  const rest = await run(command);
  expect(rest.code).toBe(0);
  expect(interrupted.upserts + rest.upserts).toBeLessThanOrEqual(60 + 8);
});

describe("a missing column", () => {
  const cases: [string, string[], RegExp][] = [
    [
      "is reported with the existing columns and the option",
      [],
      /^messy\.csv has no columns userId or user_id, itemId or item_id, ts, eventType or event_type; it has customer, product, time; use --map userId=COLUMN --map itemId=COLUMN --map ts=COLUMN --map eventType=COLUMN$/,
    ],
    [
      "is reported if --map is mistyped",
      ["--map", "userId=custmer", "--map", "itemId=product", "--map", "ts=time", "--set", "eventType=buy"],
      /^messy\.csv has no column custmer \(userId\); it has customer, product, time; use --map userId=COLUMN$/,
    ],
    [
      "is reported if --attributes are mistyped",
      [
        ...[
          "--map",
          "userId=customer",
          "--map",
          "itemId=product",
          "--map",
          "ts=time",
          "--set",
          "eventType=buy",
        ],
        ...["--attributes", "time,contry"],
      ],
      /^messy\.csv has no column contry; it has customer, product, time; use --attributes COLUMN,…$/,
    ],
  ];
  test.each(cases)("%s", async (_, options, message) => {
    const id = await loading.dataset("events");
    loading.directory.write("messy.csv", messy);
    const ended = await run(into("events", "messy.csv", "--dataset", id, ...options));
    expect(ended).toMatchObject({ code: 1, stdout: "", upserts: 0, stderr: expect.stringMatching(message) });
    expect(existsSync(join(loading.directory.path, "recommender-rejects-messy.csv.ndjson"))).toBe(false);
  });

  test("is reported for NDJSON too, and a missing attribute is a warning because later rows may have it", async () => {
    const id = await loading.dataset("users");
    loading.directory.write("messy.ndjson", '{"customer":"ann","age":3}\n');
    expect(await run(into("users", "messy.ndjson", "--dataset", id))).toMatchObject({
      code: 1,
      stderr:
        "messy.ndjson (its first rows) has no column userId or user_id; it has customer, age; use --map userId=COLUMN",
    });
    const options = ["--map", "userId=customer", "--attributes", "age,contry"];
    expect(await run(into("users", "messy.ndjson", "--dataset", id, ...options))).toMatchObject({
      code: 0,
      stderr: "messy.ndjson (its first rows) has no column contry; it has customer, age",
    });
  });
});

describe("--dry-run", () => {
  const nowhere = { env: { RECOMMENDER_BASE_URL: "http://127.0.0.1:1" } };

  test("shows columns, mapping, time range and rejected records, and sends nothing", async () => {
    loading.directory.write(
      "orders.csv",
      `${messy}ben,2,2026-02-30\nben,3,2026-04-31\n,4,2026-11-16\ncyd,5,1700000000\n`,
    );
    const command = into("events", "orders.csv", "--dry-run", "--set", "eventType=buy");
    const json = await run([...command, "--json"], nowhere);
    expect(json).toMatchObject({ code: 1, stderr: expect.stringContaining("--map userId=customer") });
    const found = {
      files: [{ file: "orders.csv", format: "csv", bytes: expect.any(Number) }],
      columns: ["customer", "product", "time"],
      missing: [],
      recordCount: 2,
      failedCount: 3,
      refusals: [
        { reason: "ts: there is no day 2026-02-30", count: 2, source: "orders.csv", line: 3 },
        { reason: expect.stringMatching(/^user_id: missing/), count: 1, source: "orders.csv", line: 5 },
      ],
      firstTs: 1_700_000_000_000,
      lastTs: Date.UTC(2026, 10, 15),
    };
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...found,
      mapping: { eventType: { value: "buy" } },
      proposed: { userId: "customer", itemId: "product", ts: "time" },
      error: { message: expect.any(String) },
    });
    const mapped = ["--map", "userId=customer", "--map", "itemId=product", "--map", "ts=time"];
    const text = await run([...command, ...mapped], nowhere);
    expect(text).toMatchObject({ code: 2, stderr: "3 records would be rejected, and --max-failures is 0." });
    expect(text.stdout).toMatch(/columns +customer, product, time\n/);
    expect(text.stdout).toMatch(/first +2023-11-14T22:13:20Z\n/);
    expect(text.stdout).toContain("- 2: ts: there is no day 2026-02-30 (first orders.csv:3)\n");
    expect(await run([...command, ...mapped, "--max-failures", "3"], nowhere)).toMatchObject({ code: 0 });
  });

  test("checks the limits of the embedded service only for the embedded service", async () => {
    const long = { user_id: "u".repeat(300), attributes: { text: "x".repeat(100_000) } };
    loading.directory.write("long.ndjson", `${JSON.stringify(long)}\n`);
    const command = into("users", "long.ndjson", "--dry-run", "--json");
    expect(JSON.parse((await run(command, nowhere)).stdout)).toMatchObject({
      recordCount: 1,
      failedCount: 0,
    });
    const embedded = { env: { RECOMMENDER_BASE_URL: "embedded:data" } };
    expect(JSON.parse((await run(command, embedded)).stdout)).toMatchObject({
      refusals: [{ reason: "user_id: expected at most 256 characters" }],
    });
  });

  test("reports fields without a column", async () => {
    loading.directory.write("orders.csv", messy);
    const ended = await run(into("events", "orders.csv", "--dry-run", "--json"), nowhere);
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      missing: [{ field: "eventType", column: "eventType or event_type" }],
      error: { message: expect.stringContaining("--map eventType=COLUMN") },
    });
  });
});
