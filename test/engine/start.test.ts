import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ended } from "../service/process";

const repository = join(__dirname, "../..");
/** Directories that a clone does not have, or that `npm start` does not need. */
const left = new Set(["node_modules", "test", "bench", "docs", ".git", ".pulumi-local", ".recommender"]);
let clone: string;
let data: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  clone = await realpath(await mkdtemp(join(tmpdir(), "recommender-clone-")));
  data = join(clone, "examples/quickstart/.recommender");
  // The build compares file times, so they are kept.
  const filter = (file: string) => file === repository || !left.has(basename(file));
  await cp(repository, clone, { recursive: true, preserveTimestamps: true, filter });
  await symlink(join(repository, "node_modules"), join(clone, "node_modules"), "junction");
  const settings = /^(PULUMI|RECOMMENDER)_|^npm_/;
  const own = Object.entries(process.env).filter(([name]) => !settings.test(name));
  env = { ...Object.fromEntries(own), PULUMI_HOME: join(clone, ".pulumi-home") };
});
afterAll(async () => {
  await inClone(process.execPath, join(clone, "dist/cli/main.js"), "stop", "--data", data);
  await rm(clone, { recursive: true, force: true });
});

const inClone = (program: string, ...args: string[]) =>
  ended(spawn(program, args, { cwd: clone, env, stdio: ["ignore", "pipe", "pipe"] }));

test("`npm start` runs the quick start in a clone, and prints its results and next steps", async () => {
  const { code, out, err } = await inClone("npm", "start");
  // The output of the engine is in `out`, so a failure shows all of it.
  const said = code === 0 ? [] : [out, err, await readFile(join(data, "service.log"), "utf8").catch(String)];
  expect({ code, said }).toEqual({ code: 0, said: [] });
  expect(out).toMatch(/^Stack local, managed by Pulumi engine \S+$/m);
  expect(out).toMatch(/^ {2}Deployment +\S+$/m);
  expect(out).toMatch(/^ {2}npm run recommender -- open --stack local +open the web console$/m);
  expect(out).toMatch(
    /\nTry next\n[\s\S]*\n {2}npm run pulumi -- destroy --yes +delete what the API can delete\n$/,
  );
});
