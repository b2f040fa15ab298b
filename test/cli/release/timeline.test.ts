import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { markerIn } from "../../../cli/comment/upsert";
import { type Release, ReleaseFile } from "../../../cli/release/history";
import type { TimelineEntry } from "../../../cli/release/timeline";
import { readAuthor } from "../../../cli/stack/author";
import { run } from "../../service/process";

const directory = mkdtempSync(join(tmpdir(), "timeline-"));
// The width of most terminals. The tests themselves may run in a wider one.
process.env.COLUMNS = "80";
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Grace", "-c", "user.email=g@example.com", ...args], {
    cwd: directory,
    encoding: "utf8",
  }).trim();
let commit: string;
beforeAll(async () => {
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message", "first");
  commit = git("rev-parse", "HEAD");
  const dev = await history("dev");
  await dev.put(entry("dev-1", "2026-01-01", { contents: contents("m1", 0.5) }));
  await dev.put(entry("dev-2", "2026-01-04", { author: "ada", contents: contents("m2", 0.6) }));
  const rolledBack = { ...contents("m1"), models: contents("m2", 0.6).models };
  await dev.put(
    entry("dev-3", "2026-01-05", {
      action: "rollback",
      from: { stack: "dev", release: "dev-1" },
      contents: rolledBack,
    }),
  );
  const prod = await history("prod");
  await prod.put(
    entry("prod-1", "2026-01-03", {
      action: "promote",
      status: "failed",
      reason: "Deployment live: <slow> & late",
      from: { stack: "dev", release: "dev-1" },
      allowed: ["drift"],
      program: { commit: "0".repeat(40), dirty: true },
    }),
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

const history = (stack: string) => ReleaseFile.open(join(directory, "releases"), { project: "shop", stack });
const contents = (modelId: string, ndcgAt20?: number): NonNullable<Release["contents"]> => ({
  records: [],
  algorithms: [],
  models: ndcgAt20 === undefined ? [] : [{ name: "weekly", modelId, projectId: "p", quality: { ndcgAt20 } }],
  deployments: [
    {
      name: "live <1>",
      generator: { modelId },
      projectId: "p",
      qps: 1,
      check: { users: 1, minResults: 1, result: "passed" },
    },
  ],
});
const entry = (id: string, day: string, more: Partial<Release>): Release => ({
  id,
  action: "release",
  status: "done",
  beganAt: `${day}T10:00:00.000Z`,
  program: { commit, dirty: false },
  versions: { package: "0.2.0", sdk: "3.230.0", engine: "3.259.0" },
  ...more,
});
const releases = (...args: string[]) => run("releases", ...args, "--cwd", directory);
const listed = async (...args: string[]) => {
  const { out } = await releases(...args, "--json");
  return (JSON.parse(out) as { releases: TimelineEntry[] }).releases;
};

describe("the history of releases", () => {
  test("lists the entries of all stacks by time, with author, commit and quality", async () => {
    const found = await listed();
    expect(found.map(({ id, stack, author }) => [id, stack, author])).toEqual([
      // The file of an older version contains no author, so the commit's author is shown.
      ["dev-1", "dev", "Grace"],
      ["prod-1", "prod", undefined],
      ["dev-2", "dev", "ada"],
      ["dev-3", "dev", "Grace"],
    ]);
    expect(found[0]).toMatchObject({ commit, dirty: false, checks: { "live <1>": "passed" } });
    expect(found[1]).toMatchObject({ status: "failed", reason: "Deployment live: <slow> & late" });
    // A rollback deploys a model that only an earlier entry describes.
    expect(found[3]?.deployed).toMatchObject([{ modelId: "m1", quality: { ndcgAt20: 0.5 } }]);
  });

  test("is a table within 80 columns", async () => {
    const { code, out } = await releases();
    expect(code).toBe(0);
    expect(out).toMatch(/^RELEASE +BEGAN \(UTC\) +ACTION +BY +COMMIT +NDCG@20 +RESULT\n/);
    expect(out).toMatch(
      new RegExp(`dev-2 +2026-01-04( 10:00)? +release +ada +${commit.slice(0, 7)} +0\\.6000 +done`),
    );
    expect(out).toContain("0000000+");
    expect(out).toMatch(/failed/);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("can be limited to one stack, and names the known stacks if there is no history", async () => {
    expect((await listed("prod")).map(({ id }) => id)).toEqual(["prod-1"]);
    const { code, err } = await releases("staging");
    expect({ code, err: err.replace(/\s+/g, " ") }).toEqual({
      code: 1,
      err: expect.stringMatching(
        /^Stack staging has no release history in .*Stacks with a history: dev, prod\./,
      ),
    });
  });

  test("may be empty", async () => {
    const { code, out } = await run("releases", "--cwd", directory, "--releases", join(directory, "none"));
    expect({ code, out }).toEqual({
      code: 0,
      out: "There is no release yet. Write the first with `recommender release STACK`.\n",
    });
  });

  test("is never shown in part if a file is broken", async () => {
    const file = join(directory, "releases", "broken.json");
    writeFileSync(file, "{");
    const { code, out, err } = await releases();
    rmSync(file);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.replace(/\s+/g, " ")).toContain("broken.json is not JSON");
  });
});

describe("the chart of the quality", () => {
  test("has a point for each successful entry, and escapes names", async () => {
    const file = join(directory, "quality.svg");
    expect((await releases("--chart", file)).out).toContain(`Chart: ${file}`);
    const svg = readFileSync(file, "utf8");
    const titles = [...svg.matchAll(/<circle[^>]*><title>([^<]*)</g)].map(([, title]) => title);
    expect(titles).toEqual([
      "dev-1, release, 2026-01-01: 0.5000",
      "dev-2, release, 2026-01-04: 0.6000",
      "dev-3, rollback, 2026-01-05: 0.5000",
    ]);
    expect(svg).toContain(">dev: live &lt;1&gt;<");
    const heights = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [
      Number(x),
      Number(y),
    ]) as [number, number][];
    const [[x1, y1], [x2, y2], [, y3]] = heights as [[number, number], [number, number], [number, number]];
    expect(x1).toBeLessThan(x2);
    // A better model is higher in the image.
    expect(y2).toBeLessThan(y1);
    expect(y3).toBe(y1);
  });

  test("is drawn by GitHub and GitLab if it is Markdown, which becomes one comment", async () => {
    const file = join(directory, "quality.md");
    expect((await releases("dev", "--chart", file)).code).toBe(0);
    const text = readFileSync(file, "utf8");
    expect(text).toBe(`### Quality of dev over time

NDCG@20 of dev: live &lt;1&gt;

\`\`\`mermaid
%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#2f7fd6"}}}}%%
xychart-beta
  x-axis ["dev-1", "dev-2", "dev-3"]
  y-axis "NDCG@20" 0 --> 0.60
  line [0.5000, 0.6000, 0.5000]
\`\`\`

<!-- recommender-releases shop/dev -->
`);
    expect(markerIn(text)).toBe("<!-- recommender-releases shop/dev -->");
  });

  test("is not drawn without a known quality, or to a file that is no image", async () => {
    const file = join(directory, "nothing.svg");
    const { code, err } = await releases("prod", "--chart", file);
    expect({ code, err: err.replace(/\s+/g, " ") }).toEqual({
      code: 1,
      err: expect.stringContaining("contains no quality of a live model, so there is nothing to draw"),
    });
    const history = join(directory, "releases/dev.json");
    const text = readFileSync(history, "utf8");
    expect((await releases("--chart", history)).code).toBe(1);
    expect(readFileSync(history, "utf8")).toBe(text);
  });
});

test("the author is who started the pipeline, or Git's user", async () => {
  git("config", "user.name", "Linus");
  expect(await readAuthor(directory, { GITHUB_ACTOR: "octocat" })).toBe("octocat");
  expect(await readAuthor(directory, {})).toBe("Linus");
});
