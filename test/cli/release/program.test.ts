import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programDifference, readProgramState } from "../../../cli/stack/program";

let directory: string;
let repository: string;
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], {
    cwd: repository,
    encoding: "utf8",
  }).trim();

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "program-")));
  repository = join(directory, "shop");
  mkdirSync(repository);
  git("init", "--quiet");
});
afterEach(() => rmSync(directory, { recursive: true }));

function commit(): string {
  writeFileSync(join(repository, "index.ts"), "");
  git("add", "--all");
  git("commit", "--quiet", "--message", "first");
  return git("rev-parse", "HEAD");
}

describe("the commit of a program", () => {
  test("is found, and histories in the repository are ignored", async () => {
    const first = commit();
    mkdirSync(join(repository, "releases"));
    writeFileSync(join(repository, "releases/dev.json"), "{}");
    expect(await readProgramState(repository, "releases")).toEqual({ commit: first, changed: [] });
    writeFileSync(join(repository, "other.ts"), "");
    expect(await readProgramState(repository, "releases")).toEqual({ commit: first, changed: ["other.ts"] });
  });

  test.each([
    ["next to the repository", "../histories"],
    ["above the repository", ".."],
    ["at the root of the repository", "."],
  ])("is found if the histories are %s", async (_, releases) => {
    const first = commit();
    expect(await readProgramState(repository, join(repository, releases))).toEqual({
      commit: first,
      changed: [],
    });
  });

  test("is found through a symbolic link, and histories are ignored", async () => {
    const first = commit();
    const link = join(directory, "link");
    symlinkSync(repository, link);
    mkdirSync(join(repository, "releases"));
    writeFileSync(join(repository, "releases/dev.json"), "{}");
    expect(await readProgramState(link, join(link, "releases"))).toEqual({ commit: first, changed: [] });
  });

  test("is null without a commit or a repository, with Git's reason", async () => {
    expect(await readProgramState(repository, "releases")).toEqual({
      commit: null,
      changed: [],
      problem: expect.stringMatching(/^your current branch '.*' does not have any commits yet$/),
    });
    expect(await readProgramState(directory, "releases")).toEqual({
      commit: null,
      changed: [],
      problem: expect.stringMatching(/^not a git repository/),
    });
  });
});

describe("the difference of a program from the commit of a release", () => {
  test("lists files in the project, without histories and stack configuration", async () => {
    const first = commit();
    const project = join(repository, "shop");
    mkdirSync(join(project, "releases"), { recursive: true });
    for (const file of ["README.md", "shop/Pulumi.dev.yaml", "shop/releases/dev.json"])
      writeFileSync(join(repository, file), "");
    const second = commit();
    const where = { cwd: project, releases: join(project, "releases") };
    const same = { from: first, to: second, files: [], elsewhere: ["README.md"], diff: "" };
    expect(await programDifference(first, { ...where, to: second })).toEqual(same);
    writeFileSync(join(project, "index.ts"), "stack === 'prod'");
    const third = commit();
    const difference = await programDifference(first, { ...where, to: third });
    expect(difference).toMatchObject({ files: ["index.ts"], elsewhere: ["README.md"] });
    expect(difference.diff).toContain("+stack === 'prod'");
  });

  test("is unknown if the commit is not in the clone, with Git's reason", async () => {
    const to = commit();
    const missing = "0123456789012345678901234567890123456789";
    const { problem } = await programDifference(missing, { cwd: repository, releases: "releases", to });
    expect(problem).toMatch(/^bad object 0123/);
  });
});
