import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { version } from "../../package.json";
import { provideHosts, whyUnavailable } from "../../tools/engine/provide.js";
import { testUnless } from "../unless";
import { ObservedService } from "./observed-service";
import { installPlugin, secretsProvider } from "./workspace";

const run = promisify(execFile);
const testYaml = testUnless(whyUnavailable("hosts"));

let observed: ObservedService;
let directory: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const { bin } = await provideHosts();
  observed = await ObservedService.start();
  directory = await realpath(await mkdtemp(join(tmpdir(), "recommender-installed-")));
  for (const name of ["home", "state", "shop"]) await mkdir(join(directory, name));
  env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    PULUMI_HOME: join(directory, "home"),
    PULUMI_BACKEND_URL: `file://${join(directory, "state")}`,
    PULUMI_SKIP_UPDATE_CHECK: "1",
    XDG_STATE_HOME: join(directory, "journal"),
  };
  await installPlugin(directory);
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await observed.close();
});

/** Runs the engine in a directory without a package in it or above it. */
async function pulumi(...args: string[]): Promise<string> {
  const options = { cwd: join(directory, "shop"), env, maxBuffer: 2 ** 26 };
  const { stdout } = await run("pulumi", args, options).catch((error) =>
    Promise.reject(new Error(`${error.stdout}\n${error.stderr}`)),
  );
  return stdout;
}

testYaml("the installed plugin runs a program outside the package directory", async () => {
  const resources = { users: { type: "recommender:UserDataset", properties: { numShards: 1 } } };
  const program = { name: "shop", runtime: "yaml", resources };
  await writeFile(join(directory, "shop", "Pulumi.yaml"), stringify(program));
  await pulumi("stack", "init", "test", "--secrets-provider", secretsProvider);
  const config = Object.entries(observed.config).flatMap(([key, value]) => ["--secret", `${key}=${value}`]);
  await pulumi("config", "set-all", ...config);
  expect(await pulumi("up", "--yes", "--skip-preview", "--non-interactive")).toMatch(/2 created/);
  expect(observed.calls()).toEqual(["POST /create-user-dataset"]);
});

testYaml("`pulumi package get-schema` and `pulumi package add` use the installed plugin", async () => {
  const { name, resources } = JSON.parse(await pulumi("package", "get-schema", `recommender@${version}`));
  expect(name).toBe("recommender");
  expect(Object.keys(resources)).toContain("recommender:index:EventDataset");
  await pulumi("package", "add", `recommender@${version}`);
  const added = await readdir(join(directory, "shop"), { recursive: true });
  expect(added).toContain("Pulumi.yaml");
  expect(await readFile(join(directory, "shop", "Pulumi.yaml"), "utf8")).toContain("recommender");
});

testYaml("a plugin whose package was removed says how to install it again", async () => {
  const [plugin = ""] = await readdir(join(directory, "home/plugins"));
  const note = join(directory, "home/plugins", plugin, "installed-from");
  await writeFile(note, "/no/such/package\n");
  await expect(pulumi("package", "get-schema", `recommender@${version}`)).rejects.toThrow(
    /found no package pulumi-recommender in .*shop or its parents, nor in \/no\/such\/package/,
  );
});
