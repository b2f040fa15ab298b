import { writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { History } from "../../cli/release/history";
import { ended } from "../service/process";
import { Environments } from "./environments";

describe("a promotion with a policy, through the real engine", () => {
  let at: Environments;
  beforeAll(async () => {
    at = await Environments.make();
    await at.recommender("release", "dev");
    await at.commit("Release dev-1");
  });
  afterAll(() => at.dispose());

  const setPolicy = (text: string) => writeFile(join(at.workspace.directory, "recommender.yaml"), text);
  const override = ["--override", "freeze", "--override", "soak", "--reason", "fix 4711"];
  const frozen = `promotion:
  order: [dev, staging, prod]
  stages:
    staging:
      soak: 1000d
      freezes:
        - { from: 2026-01-01, to: 2999-12-31, timeZone: Europe/Berlin, reason: a test }
`;

  test("changes nothing while a gate is closed, and tells when the gates open", async () => {
    await setPolicy(frozen);
    const dirty = await at.promote("dev", "staging", "--yes", "--allow", "uncommitted");
    expect(dirty).toMatchObject({ code: 2, verdict: "refused" });
    expect(dirty.gates).toMatchObject([{ gate: "policy", isOpen: false }, {}, {}, {}, {}]);
    await at.commit("Policy");
    const refused = await at.promote("dev", "staging", "--yes");
    expect(refused).toMatchObject({ code: 2, verdict: "refused", reasons: [] });
    // A new policy needs no new release.
    expect(refused.gates.map(({ gate, isOpen }) => [gate, isOpen])).toEqual([
      ["order", true],
      ["clock", true],
      ["soak", false],
      ["freeze", false],
    ]);
    expect(refused.gatesOpenAt).toBe("2999-12-31T23:00:00.000Z");
    expect(at.submissions("staging")).toEqual([]);
    await expect(at.released("staging")).rejects.toThrow(/ENOENT/);
    const skipped = await at.promote("dev", "prod", "--yes");
    expect(skipped.gates).toMatchObject([{ gate: "order", isOpen: false }]);
    expect(skipped).toMatchObject({ code: 2, verdict: "refused" });
  });

  test("is refused if the policy has an error, and an override needs a reason", async () => {
    await setPolicy(frozen.replace("order", "oder"));
    const broken = await at.recommender(
      "promote",
      "dev",
      "staging",
      "--yes",
      "--override",
      "freeze",
      "--reason",
      "x",
    );
    expect(broken).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^recommender\.yaml:2: promotion: oder is unknown; did you mean order\?/),
    });
    await setPolicy(frozen);
    const unexplained = await at.recommender("promote", "dev", "staging", "--yes", "--override", "freeze");
    expect(unexplained).toMatchObject({
      code: 1,
      err: expect.stringContaining("--override needs --reason TEXT"),
    });
    expect(at.submissions("staging")).toEqual([]);
  });

  test("stops before its first change if FROM gets another release during the review", async () => {
    const file = join(at.workspace.directory, "releases/dev.json");
    const text = await readFile(file, "utf8");
    const history = JSON.parse(text) as History;
    const newer = { ...history, releases: [...history.releases, { ...history.releases[0], id: "dev-2" }] };
    const child = at.start("promote", "dev", "staging", "--yes", ...override);
    child.stderr?.on("data", (output) => {
      // FROM's history has been read, and the comparison begins.
      if (String(output).includes("Comparing")) writeFileSync(file, JSON.stringify(newer));
    });
    const { code, out } = await ended(child);
    await writeFile(file, text);
    expect({ code, out: out.replace(/\s+/g, " ") }).toEqual({
      code: 2,
      out: expect.stringContaining("dev has a newer release than the one that was reviewed"),
    });
    expect(await at.released("staging")).toMatchObject([{ id: "staging-1", status: "failed" }]);
    expect(at.submissions("staging")).toEqual([]);
  });

  test("runs with an override, which the history records with the reason and the author", async () => {
    const review = await at.promote("dev", "staging", "--yes", ...override);
    expect(review).toMatchObject({ code: 0, verdict: "done" });
    const entry = (await at.released("staging")).at(-1);
    expect(entry?.gates?.map(({ gate, state, reason }) => [gate, state, reason])).toEqual([
      ["order", "open", undefined],
      ["clock", "open", undefined],
      ["soak", "overridden", "fix 4711"],
      ["freeze", "overridden", "fix 4711"],
    ]);
    await at.commit("Promote dev-1");
    const shown = await at.recommender("releases", "staging");
    expect(shown.out.replace(/\s+/g, " ")).toContain("done, 2 overridden");
    // The stack matches the release, so a closed gate does not matter.
    expect(await at.promote("dev", "staging", "--yes")).toMatchObject({ code: 0, verdict: "nothing to do" });
  });
});
