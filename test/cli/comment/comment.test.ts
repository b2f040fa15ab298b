import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { markerIn, shortened } from "../../../cli/comment/upsert";
import { Host } from "./hosts";
import { runIn } from "./run-in";

const directory = mkdtempSync(join(tmpdir(), "recommender-comment-"));
const file = join(directory, "review.md");
const eventFile = join(directory, "event.json");
const token = "a-very-secret-token";
const review = (text: string, stack = "dev") => `### ${text}\n\n<!-- recommender-review shop/${stack} -->\n`;
const pull = (head: string) => ({
  pull_request: {
    number: 7,
    head: { repo: { full_name: head } },
    base: { repo: { full_name: "shop/infra" } },
  },
});

afterAll(() => rmSync(directory, { recursive: true }));

describe.each(["github", "gitlab"] as const)("recommender comment, on %s", (kind) => {
  let host: Host;
  beforeEach(async () => {
    host = await Host.start(kind);
    writeFileSync(eventFile, JSON.stringify(pull("shop/infra")));
  });
  afterEach(() => host.close());

  const environment = () =>
    kind === "github"
      ? {
          GITHUB_ACTIONS: "true",
          GITHUB_API_URL: host.url,
          GITHUB_REPOSITORY: "shop/infra",
          GITHUB_EVENT_PATH: eventFile,
          GITHUB_TOKEN: token,
        }
      : {
          GITLAB_CI: "true",
          CI_API_V4_URL: host.url,
          CI_PROJECT_ID: "11",
          CI_MERGE_REQUEST_PROJECT_ID: "11",
          CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "11",
          CI_MERGE_REQUEST_IID: "7",
          GITLAB_COMMENT_TOKEN: token,
        };
  const comment = async (text: string, env: Record<string, string> = {}, args: string[] = []) => {
    writeFileSync(file, text);
    const ended = await runIn(directory, ["comment", "review.md", ...args], { ...environment(), ...env });
    expect(ended.out + ended.err).not.toContain(token);
    return ended;
  };
  const bodies = () => host.comments.map(({ body }) => body.trim());

  test("each stack gets one comment, which is edited in place among many others", async () => {
    for (let n = 0; n < 230; n++) host.add(`other ${n}`);
    expect(await comment(review("first"))).toMatchObject({ code: 0, err: "" });
    const again = await comment(review("second"), {}, ["--json"]);
    expect(JSON.parse(again.out)).toMatchObject({ action: "updated" });
    await comment(review("production", "prod"));
    const unchanged = await comment(review("second"), {}, ["--json"]);
    expect(JSON.parse(unchanged.out)).toMatchObject({ action: "unchanged" });
    expect(bodies().slice(230)).toEqual([review("second").trim(), review("production", "prod").trim()]);
    expect(host.writes).toHaveLength(3);
    expect(new Set(host.calls.map((call) => call.token))).toEqual(
      new Set([kind === "github" ? `Bearer ${token}` : token]),
    );
  });

  test("a comment of another account with the same marker is not edited", async () => {
    const spoofed = host.add(review("All is well"));
    await comment(review("deletes a dataset"));
    expect(spoofed.body).toBe(review("All is well"));
    expect(bodies()).toEqual([review("All is well").trim(), review("deletes a dataset").trim()]);
  });

  test("after server errors and limits, there is one comment", async () => {
    const status =
      (code: number, headers: Record<string, string> = {}) =>
      (response: import("node:http").ServerResponse) =>
        void response.writeHead(code, headers).end('{"message":"try again"}');
    host.faults.push(
      { on: /^GET .*(comments|notes)$/, fault: status(502) },
      { on: /^POST/, fault: status(429, { "retry-after": "0" }) },
      // The comment is created, but the response is lost.
      { on: /^POST/, fault: (response) => void response.destroy(), afterwards: true },
    );
    expect(await comment(review("once"))).toMatchObject({ code: 0 });
    expect(bodies()).toEqual([review("once").trim()]);
  });

  test("two runs that create the comment at the same time leave one", async () => {
    host.faults.push({
      on: /^GET .*(comments|notes)$/,
      fault: (response) => {
        response.writeHead(200).end("[]");
        host.add(review("of another run"), "own");
      },
    });
    expect(await comment(review("of this run"))).toMatchObject({ code: 0, err: "" });
    expect(bodies()).toEqual([review("of this run").trim()]);
  });

  test("a limit that lasts longer than a pipeline should wait fails with one sentence", async () => {
    const reset = String(Math.ceil(Date.now() / 1000) + 1800);
    const headers =
      kind === "github"
        ? { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset }
        : { "ratelimit-reset": reset };
    host.faults.push({
      on: /^GET .*(comments|notes)$/,
      fault: (response) => void response.writeHead(kind === "github" ? 403 : 429, headers).end("{}"),
    });
    const { code, err } = await comment(review("later"));
    expect(code).toBe(1);
    expect(err).toMatch(/accepts no calls for (29|30|31) min \(4\d\d\)\. Run the command again then\./);
    expect(host.writes).toEqual([]);
  });

  test("a rejected token fails with the step to take, and is not shown", async () => {
    host.faults.push({
      on: /^GET \/user$/,
      fault: (response) =>
        void response.writeHead(401).end(JSON.stringify({ message: `Bad credentials ${token}` })),
    });
    const { code, err } = await comment(review("x"));
    expect(code).toBe(1);
    expect(err).toMatch(
      /rejected GET \/user \(401: Bad credentials \[token\]\)\. Set (GITHUB|GITLAB_COMMENT)_TOKEN to a valid/,
    );
  });

  test("a pull request from a fork, or none, is no error", async () => {
    writeFileSync(eventFile, JSON.stringify(pull("someone/infra")));
    const fork = await comment(review("x"), {
      GITHUB_TOKEN: "",
      GITLAB_COMMENT_TOKEN: "",
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "12",
    });
    expect(fork).toMatchObject({ code: 0, err: "" });
    expect(fork.out).toMatch(
      /^The (pull|merge) request comes from a fork, which gets no secrets, so the review is skipped\.$/m,
    );
    writeFileSync(eventFile, "{}");
    const none = await comment(review("x"), { CI_MERGE_REQUEST_IID: "" });
    expect(none).toMatchObject({ code: 0, err: "" });
    expect(none.out).toContain("not for a pull request");
    expect(host.calls).toEqual([]);
  });

  test("the token is not sent without encryption to another machine", async () => {
    const { code, err } = await comment(review("x"), {
      GITHUB_API_URL: "http://api.example.com",
      CI_API_V4_URL: "http://api.example.com",
    });
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("has no https:// address, so the token is not sent"),
    });
  });
});

test("a pull request of Dependabot, which has no secrets, is no error", async () => {
  writeFileSync(eventFile, JSON.stringify(pull("shop/infra")));
  const env = { GITHUB_ACTIONS: "true", GITHUB_EVENT_PATH: eventFile, GITHUB_ACTOR: "dependabot[bot]" };
  for (const args of [
    ["review", "--stack", "dev"],
    ["comment", "review.md"],
  ])
    expect(
      await runIn(directory, args, { ...env, PULUMI_CONFIG_PASSPHRASE: "", PULUMI_BACKEND_URL: "" }),
    ).toEqual({
      code: 0,
      out: "The pull request comes from Dependabot, which gets no secrets, so the review is skipped.\n",
      err: "",
    });
});

test("the token of a workflow, which cannot read its account, edits the comment of its bot", async () => {
  const host = await Host.start("github");
  host.canReadAccount = false;
  writeFileSync(eventFile, JSON.stringify(pull("shop/infra")));
  const env = {
    GITHUB_ACTIONS: "true",
    GITHUB_API_URL: host.url,
    GITHUB_REPOSITORY: "shop/infra",
    GITHUB_EVENT_PATH: eventFile,
    GITHUB_TOKEN: token,
  };
  host.add(review("All is well"));
  for (const text of ["first", "second"]) {
    writeFileSync(file, review(text));
    expect(await runIn(directory, ["comment", "review.md"], env)).toMatchObject({ code: 0 });
  }
  expect(host.comments.map(({ body }) => body)).toEqual([review("All is well"), review("second")]);
  await host.close();
});

test("outside a pipeline, the options name the pull request, and a file needs a marker", async () => {
  const host = await Host.start("github");
  const env = { GITHUB_API_URL: host.url, GH_TOKEN: token };
  writeFileSync(file, review("by hand"));
  const bare = await runIn(directory, ["comment", "review.md"], env);
  expect(bare).toMatchObject({
    code: 1,
    err: expect.stringContaining("Set --host, --repository and --pull-request"),
  });
  const options = ["--host", "github", "--repository", "shop/infra", "--pull-request", "7"];
  expect(await runIn(directory, ["comment", "review.md", ...options], env)).toMatchObject({ code: 0 });
  expect(host.comments).toHaveLength(1);
  writeFileSync(file, "just text");
  const unmarked = await runIn(directory, ["comment", "review.md", ...options], env);
  expect(unmarked).toMatchObject({ code: 1, err: expect.stringContaining("has no marker") });
  await host.close();
});

test("a long text is cut at a line, what it leaves open is closed, and the marker stays", () => {
  const marker = "<!-- recommender-review shop/dev -->";
  const block = `<details><summary>x</summary>\n\n\`\`\`\`sh\n${"pulumi up\n".repeat(50)}`;
  const text = `${block.repeat(20)}\n${marker}\n`;
  const cut = shortened(text, marker, 5000);
  expect(cut.length).toBeLessThanOrEqual(5000);
  expect(markerIn(cut)).toBe(marker);
  expect(cut.split("<details>").length).toBe(cut.split("</details>").length);
  expect(cut).toContain("too long for a comment");
  expect(shortened("short", marker, 5000)).toBe("short");
});
