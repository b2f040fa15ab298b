import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readApprovals } from "../../../cli/policy/approvals";
import type { StagePolicy } from "../../../cli/policy/schedule";
import type { Release } from "../../../cli/release/history";

const directory = mkdtempSync(join(tmpdir(), "approvals-"));
const path = join(directory, "shop", "releases", "dev.json");
const release: Release = {
  id: "dev-1",
  action: "release",
  status: "done",
  beganAt: "2026-01-01T00:00:00.000Z",
  program: { commit: "abc", dirty: false },
  versions: { package: "0.2.0", sdk: "3", engine: "3" },
  contents: { records: [], algorithms: [], models: [], deployments: [] },
};
const git = (...args: string[]) => execFileSync("git", args, { cwd: directory, encoding: "utf8" });
const newKey = (name: string) => {
  const key = join(directory, `${name}.key`);
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  return { key, public: readFileSync(`${key}.pub`, "utf8").split(" ").slice(0, 2).join(" ") };
};
const save = (releases: object[]) =>
  writeFileSync(path, JSON.stringify({ version: 1, project: "shop", stack: "dev", releases }));
const commit = (key?: string) => {
  git("add", "shop");
  git(...(key ? ["-c", `user.signingkey=${key}`] : []), "commit", "-qm", "release", ...(key ? ["-S"] : []));
};
beforeAll(() => {
  mkdirSync(join(directory, "shop", "releases"), { recursive: true });
  git("init", "-q");
  for (const [key, value] of [
    ["user.name", "Eve"],
    ["user.email", "eve@example.com"],
    ["gpg.format", "ssh"],
    ["gpg.ssh.allowedSignersFile", join(directory, "signers")],
  ] as const)
    git("config", key, value);
});
afterAll(() => rmSync(directory, { recursive: true }));

const stage = (source: "environment" | "signatures"): StagePolicy => ({
  freezes: [],
  approvals: { required: 1, source, variable: "APPROVED_BY" },
});
const approvals = (source: "environment" | "signatures", promoted: Release | undefined = release) =>
  readApprovals(stage(source), promoted, { path, environment: { APPROVED_BY: "ada, grace," } });

test("approvals in the environment are names separated by commas", async () => {
  expect(await approvals("environment")).toEqual(["ada", "grace"]);
  expect(await readApprovals({ freezes: [] }, release, { path, environment: {} })).toEqual([]);
});

test("only trusted signatures of commits that contain the release as it is are approvals", async () => {
  const [ada, grace, eve] = ["ada", "grace", "eve"].map(newKey) as [
    ReturnType<typeof newKey>,
    ReturnType<typeof newKey>,
    ReturnType<typeof newKey>,
  ];
  writeFileSync(
    join(directory, "signers"),
    `ada@example.com ${ada.public}\ngrace@example.com ${grace.public}\n`,
  );
  // The variable does not count if the policy wants signatures.
  save([release]);
  commit();
  expect(await approvals("signatures")).toEqual([]);
  save([{ ...release, note: 1 }]);
  commit(eve.key);
  expect(await approvals("signatures")).toEqual([]);
  save([{ ...release, note: 2 }]);
  commit(ada.key);
  expect(await approvals("signatures")).toEqual(["ada@example.com"]);
  // A second person signs a commit that adds a note to the release.
  save([{ ...release, note: 3 }]);
  commit(grace.key);
  expect((await approvals("signatures")).sort()).toEqual(["ada@example.com", "grace@example.com"]);
  // Nobody has signed this program.
  const changed = { ...release, program: { commit: "def", dirty: false } };
  save([changed]);
  commit();
  expect(await approvals("signatures", changed)).toEqual([]);
  expect(await readApprovals(stage("signatures"), undefined, { path, environment: {} })).toEqual([]);
});
