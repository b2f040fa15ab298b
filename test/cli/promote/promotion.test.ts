import type { StackReport } from "../../../cli/drift/finding";
import { compareQuality, floorsOf } from "../../../cli/promote/quality";
import { commentOf, type Review, reviewText } from "../../../cli/promote/review";
import { type Evidence, promotionBlockers, sameContents } from "../../../cli/release/gate";
import type { Contents, Release } from "../../../cli/release/history";

const contents = (modelId = "m1", ndcgAt20 = 0.5, result = "passed"): Contents => ({
  records: [{ name: "history", type: "EventRecords", contentHash: "sha256:1" }],
  algorithms: [],
  models: [{ name: "weekly", modelId, projectId: "p", quality: { ndcgAt20 } }],
  deployments: [
    {
      name: "live",
      generator: { modelId, model: "weekly" },
      projectId: "p",
      qps: 1,
      check: { users: 1, minResults: 1, result },
    },
  ],
});
const release: Release = {
  id: "dev-3",
  action: "release",
  status: "done",
  beganAt: "2026-01-01T00:00:00.000Z",
  program: { commit: "0123456789abcdef", dirty: false },
  versions: { package: "0.1.0", sdk: "3.230.0", engine: "3.259.0" },
  contents: contents(),
};
const report: StackReport = {
  stack: "dev",
  project: "shop",
  folder: "../../release",
  resources: 1,
  observed: 1,
  changes: [],
  drift: [],
  unmanaged: [],
  orphans: [],
  unobservable: [],
  accepted: [],
  expired: [],
  unused: [],
  warnings: [],
  fixes: { apply: "", accept: "" },
};
const clean: Evidence = {
  stack: "dev",
  report,
  contents: contents(),
  program: { commit: "0123456789abcdef", changed: [] },
  pinned: {},
};
const finding: StackReport["changes"][number] = {
  kind: "replaced",
  resource: { urn: "urn", type: "Model", name: "weekly" },
  properties: [],
  effect: "retrains",
  consequence: "It is trained again.",
  also: [],
  fixes: { apply: {}, accept: {} },
};

describe("blocking issues of a promotion", () => {
  test("are empty for a stack that matches its release", () => {
    expect(promotionBlockers(clean, release)).toEqual([]);
  });

  test.each<[string, Partial<Evidence>, Release | undefined, RegExp]>([
    ["drift", { report: { ...report, drift: [finding] } }, release, /dev has drift: Model weekly/],
    ["changes", { report: { ...report, changes: [finding] } }, release, /would change dev: Model weekly/],
    [
      "checks",
      { contents: contents("m1", 0.5, "the check failed: no") },
      release,
      /Deployment live: the check/,
    ],
    [
      "uncommitted",
      { program: { commit: "a", changed: ["index.ts"] } },
      release,
      /differs from its commit: index/,
    ],
    ["uncommitted", { program: { commit: null, changed: [] } }, release, /in no Git commit/],
    ["release", {}, undefined, /dev has no release/],
    ["release", { contents: contents("m2") }, release, /dev has changed since its release dev-3/],
    ["pinned", { pinned: { live: { generatorModelId: "m0" } } }, release, /dev was rolled back, so .*: live/],
  ])("%s: %j", (code, differing, latest, words) => {
    expect(promotionBlockers({ ...clean, ...differing }, latest)).toEqual([
      { code, words: expect.stringMatching(words), fix: expect.stringMatching(/\S/) },
    ]);
  });

  const difference = {
    from: "a".repeat(40),
    to: "b".repeat(40),
    files: ["index.ts"],
    elsewhere: [],
    diff: "",
  };

  test("include a checked-out program that differs from the release, with both commits and a fix", () => {
    expect(promotionBlockers(clean, release, difference)).toEqual([
      {
        code: "commit",
        words:
          "release dev-3 is from commit aaaaaaaaaaaa, but commit bbbbbbbbbbbb is checked out, which differs in index.ts",
        fix: expect.stringContaining("`recommender release dev`"),
      },
    ]);
    const elsewhere = { ...difference, files: [], elsewhere: ["README.md"] };
    expect(promotionBlockers(clean, release, elsewhere)).toEqual([]);
  });

  test("include a release whose commit cannot be compared", () => {
    const problem = { ...difference, files: [], problem: "bad object aaaa" };
    expect(promotionBlockers(clean, release, problem)).toEqual([
      {
        code: "commit",
        words: expect.stringMatching(
          /cannot be compared with commit a{12} of release dev-3: Git reports "bad object/,
        ),
        fix: expect.stringContaining("git fetch origin aaaa"),
      },
    ]);
  });

  test("have fixes that work in the directory of the command", () => {
    const where = { project: " --cwd shop", releases: " --cwd shop --releases ../r" };
    const evidence = { ...clean, where, report: { ...report, drift: [finding], changes: [finding] } };
    expect(promotionBlockers(evidence, undefined).map(({ fix }) => fix)).toEqual([
      "see `recommender drift --stack dev --cwd shop`",
      "apply it first: `pulumi up --stack dev --cwd shop`",
      "write it: `recommender release dev --cwd shop --releases ../r`",
    ]);
  });

  test("do not include a check with a new result", () => {
    expect(sameContents(contents("m1", 0.5, "passed"), contents("m1", 0.5, "slow"))).toBe(true);
  });
});

describe("the required quality", () => {
  const before = [{ name: "live", generator: { modelId: "m0", quality: { ndcgAt20: 0.6 } } }];
  const both = ["from", "former"] as const;

  test("is a share of the quality of the better baseline", () => {
    const comparisons = compareQuality(contents(), before, { ratio: 0.5, against: both });
    const measured = { from: { ndcgAt20: 0.5 }, former: { ndcgAt20: 0.6 } };
    const figures = { from: 0.5, former: 0.6, floor: 0.3, measured };
    expect(comparisons).toEqual([{ deployment: "live", model: "weekly", ...figures }]);
    expect(floorsOf(comparisons)).toEqual({ weekly: 0.3 });
  });

  test("is the highest floor if several deployments use a model, in any order", () => {
    const served = (name: string, ndcgAt20: number) => ({
      name,
      generator: { modelId: `m-${name}`, quality: { ndcgAt20 } },
    });
    const two = (names: readonly string[]): Contents => ({
      ...contents(),
      deployments: names.map((name) => ({ ...contents().deployments[0], name }) as never),
    });
    const former = [served("app", 0.5), served("shop", 0.3)];
    for (const names of [
      ["app", "shop"],
      ["shop", "app"],
    ]) {
      const comparisons = compareQuality(two(names), former, { ratio: 0.9, against: ["former"] });
      expect(comparisons.map(({ deployment, floor }) => [deployment, floor])).toEqual([
        ["app", 0.45],
        ["shop", 0.27],
      ]);
      expect(floorsOf(comparisons)).toEqual({ weekly: 0.45 });
    }
  });

  test("uses only the chosen baseline, and is at most 1", () => {
    expect(floorsOf(compareQuality(contents(), before, { ratio: 1, against: ["from"] }))).toEqual({
      weekly: 0.5,
    });
    expect(floorsOf(compareQuality(contents(), before, { ratio: 3, against: both }))).toEqual({ weekly: 1 });
  });

  test("is undefined if no quality is known or the ratio is 0", () => {
    const unknown: Contents = { ...contents(), models: [{ name: "weekly", modelId: "m1", projectId: "p" }] };
    expect(floorsOf(compareQuality(unknown, [], { ratio: 0.9, against: both }))).toEqual({});
    expect(floorsOf(compareQuality(contents(), before, { ratio: 0, against: both }))).toEqual({});
  });
});

describe("the review of a promotion", () => {
  const review: Review = {
    verdict: "refused",
    project: "shop",
    from: "dev",
    to: "staging",
    source: release,
    program: { commit: "0123456789abcdef", changed: [] },
    command: "recommender promote dev staging --allow drift --yes",
    reasons: [
      { code: "drift", words: "dev has drift", fix: "see `recommender drift --stack dev`", allowed: false },
      { code: "uncommitted", words: "the program is in no Git commit", fix: "commit it", allowed: true },
    ],
    gates: [],
    report: { ...report, changes: [finding] },
    quality: [
      {
        deployment: "live",
        model: "weekly",
        from: 0.5,
        floor: 0.45,
        measured: { from: { ndcgAt20: 0.5, popularityNdcgAt20: 0.4, heldOutPairs: 3 } },
      },
    ],
    before: [],
    lost: ["weekly"],
    unpinned: ["live"],
  };

  test("starts with the verdict, then lists blocking issues with fixes, then changes, in 80 columns", () => {
    const markdown = reviewText(review);
    expect(markdown.split("\n")[0]).toBe("# Promotion dev → staging: refused");
    expect(markdown).toContain("; or\n  `--allow drift`.");
    expect(markdown).toContain("- **uncommitted**: the program is in no Git commit. Allowed.");
    expect(markdown).toContain("- **Model weekly** replaced: It is trained again.");
    expect(markdown).toContain("`retainOnDelete`");
    expect(markdown).toContain("| weekly | 0.5000 | – | 0.4500 | – |");
    expect(markdown).toContain("\n- weekly, dev: popular items 0.4000, 3 pairs held out: uncertain\n");
    expect(markdown.indexOf("Blocking issues")).toBeLessThan(markdown.indexOf("Changes in"));
    expect(markdown.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("names the applied commit, and shows how it differs from the release", () => {
    const diff = "diff --git a/index.ts b/index.ts\n+qps: 99";
    const from = String(release.program.commit);
    const difference = { from, to: "fedcba9876543210", files: ["index.ts"], elsewhere: [], diff };
    const program = { commit: difference.to, changed: [] };
    const other = reviewText({ ...review, verdict: "ready", program, difference }).replace(/\n/g, " ");
    expect(other).toContain("Release `dev-3` (commit `0123456789ab`) of dev can be promoted to staging.");
    expect(other).toContain("**The applied commit `fedcba987654` is not the commit of the release.**");
    expect(other).toContain(
      "## Changes since the release  - In the project: index.ts. See `git diff 0123456789ab",
    );
    expect(other).toContain("```diff diff --git a/index.ts b/index.ts +qps: 99 ```");
    expect(other).toContain("Apply it with `recommender promote dev staging --allow drift --yes`.");
    const same = { ...difference, files: [], diff: "" };
    const text = reviewText({ ...review, verdict: "ready", program, difference: same }).replace(/\n/g, " ");
    expect(text).toContain("The applied commit `fedcba987654` has the same program.");
    expect(text).not.toContain("Changes since the release");
    const dirty = { commit: from, changed: ["index.ts"] };
    expect(reviewText({ ...review, verdict: "ready", program: dirty }).replace(/\n/g, " ")).toContain(
      "Uncommitted files are applied too: index.ts.",
    );
  });

  test("shows which gates are open, when the others open, and how to override them", () => {
    const soak = { gate: "soak" as const, isOpen: false, words: "dev must run for 24h" };
    const markdown = reviewText({
      ...review,
      gates: [
        { gate: "order", isOpen: true, words: "dev is the stage before staging" },
        { ...soak, opensAt: "2026-01-02T03:04:05.000Z" },
        { gate: "freeze", isOpen: false, words: "holidays", overridden: "hotfix 4711" },
        { gate: "approvals", isOpen: false, words: "0 of 1 approvals" },
      ],
      gatesOpenAt: "2026-01-02T09:00:00.000Z",
    });
    const text = markdown.replace(/\s+/g, " ");
    expect(text).toContain("## Gates - **order** open: dev is the stage before staging.");
    expect(text).toContain(
      "- **soak** closed: dev must run for 24h. Opens at 2026-01-02 03:04 UTC. To override it, add " +
        "`--override soak --reason TEXT`.",
    );
    expect(text).toContain("- **freeze** overridden (hotfix 4711): holidays.");
    expect(text).toContain("All gates are open from 2026-01-02 09:00 UTC.");
    expect(markdown.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("shows which rules of a deployment change", () => {
    const rules = {
      filter: "item.in_stock",
      boost: [{ when: `item.tag in ["new"${', "odd"'.repeat(20)}]`, factor: 2 }],
    };
    const deployments = [{ ...contents().deployments[0], rules }];
    const source = { ...release, contents: { ...contents(), deployments } } as Release;
    const live = { name: "live", generator: { modelId: "m0" }, rules: { filter: "true" } };
    const markdown = reviewText({ ...review, verdict: "ready", source, before: [live] });
    expect(markdown).toContain(
      "## Rules\n\n- live:\n\n```diff\n- filter: true\n+ filter: item.in_stock\n+ boost × 2: ",
    );
    expect(markdown.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(reviewText({ ...review, source, before: [{ ...live, rules }] })).not.toContain("## Rules");
    expect(reviewText(review)).not.toContain("## Rules");
  });

  test("has a marker only as a comment", () => {
    expect(reviewText(review)).not.toContain("<!--");
    expect(commentOf(review)).toMatch(
      /^# Promotion [\s\S]*\n<!-- recommender promote shop dev staging -->\n$/,
    );
  });

  test("shows odd names and texts as they are, in every table and block", () => {
    const odd = "a|b `c` <d> *e* [f](g)";
    const escaped = "a\\|b \\`c\\` \\<d\\> \\*e\\* [f]\\(g)";
    const markdown = reviewText({
      ...review,
      quality: review.quality.map((one) => ({ ...one, model: odd })),
      gates: [{ gate: "freeze", isOpen: false, words: odd }],
      lost: [odd],
      source: {
        ...release,
        contents: {
          ...contents(),
          deployments: [{ ...contents().deployments[0], name: odd, rules: { filter: "```" } }],
        },
      } as Release,
    });
    const rows = markdown.split("\n").filter((line) => line.startsWith("|"));
    expect(rows.map((row) => row.split(/(?<!\\)\|/).length)).toEqual(rows.map(() => 7));
    const text = markdown.replace(/\s+/g, " ");
    for (const part of [`| ${escaped} |`, `closed: ${escaped}.`, `**Model ${escaped}**`, `- ${escaped}:`])
      expect(text).toContain(part);
    expect(markdown).toContain("````diff\n+ filter: ```\n````");
  });
});
