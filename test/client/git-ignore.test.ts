import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ignoreHint } from "../../client/git-ignore";

describe("a hint to ignore a new file", () => {
  const tree = mkdtempSync(join(tmpdir(), "git-ignore-"));
  const data = join(tree, "shop", ".recommender");
  beforeAll(() => mkdirSync(data, { recursive: true }));
  afterAll(() => rmSync(tree, { recursive: true }));

  test("is given only in a work tree that does not ignore it, with the pattern to add", async () => {
    const hint = () => ignoreHint(data, "the service's data");
    expect(await hint()).toBeUndefined();
    execFileSync("git", ["init", "--quiet", tree]);
    expect(await hint()).toBe(
      `Add .recommender/ to .gitignore: ${data} has the service's data, and Git does not ignore it.`,
    );
    expect(await ignoreHint(join(tree, "shop", "bad.ndjson"), "rejected records")).toMatch(
      /^Add \/shop\/bad\.ndjson to \.gitignore: /,
    );
    writeFileSync(join(tree, ".gitignore"), ".recommender/\n");
    expect(await hint()).toBeUndefined();
  });
});
