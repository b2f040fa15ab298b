import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { version as pulumiVersion } from "@pulumi/pulumi/package.json";
import { version } from "../../package.json";
import { registryEnv } from "../tools/provide";
import { readKeptState } from "./kept-state";
import { OtherService } from "./other-service";
import { program, served } from "./shop-program";

const run = promisify(execFile);
const repository = join(__dirname, "../..");
const wrapper = `
import * as pulumi from "@pulumi/pulumi";
import * as recommender from "pulumi-recommender";
export const triggers: recommender.Json[] = ["week 46", 1];
export const addressOf = (live: recommender.Deployment): pulumi.Output<string> => live.servingUri;
export const questions: recommender.Query[] = [{ attribute: "genre", value: "jazz", bins: 10 }];
export const elsewhere = (args: recommender.ProviderArgs): pulumi.Output<{ name?: string | null | undefined }> => {
  const provider = new recommender.Provider("elsewhere", args);
  return recommender.getModelOutput({ projectId: "p", modelId: "m" }, { provider });
};
// @ts-expect-error: code that only the engine needs is not exported.
export const { lifecycle } = recommender.Model;
`;

let packed: string;
let tarball: string;

beforeAll(async () => {
  packed = await realpath(await mkdtemp(join(tmpdir(), "recommender-packed-")));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", packed], { cwd: repository });
  tarball = join(packed, (await readdir(packed))[0]);
});
afterAll(() => rm(packed, { recursive: true, force: true }));

/** Directory of a user with only the installed packages. */
async function install(manager: "npm" | "pnpm"): Promise<string> {
  const directory = join(packed, manager);
  await mkdir(directory);
  await writeFile(join(directory, "Pulumi.yaml"), "name: mine\nruntime: nodejs\n");
  await writeFile(join(directory, "package.json"), JSON.stringify({ name: "mine", private: true }));
  const registry = { cwd: directory, env: registryEnv() };
  const packages = [`@pulumi/pulumi@${pulumiVersion}`, tarball];
  if (manager === "npm") {
    const options = ["--prefer-offline", "--no-audit", "--no-fund"];
    const { stderr } = await run("npm", ["install", ...options, ...packages], registry);
    // Every dependency supports the Node version that this package requires.
    expect(stderr).not.toContain("EBADENGINE");
  } else {
    const pnpm = join(repository, "node_modules/pnpm/bin/pnpm.cjs");
    const store = ["--store-dir", join(packed, "store"), "--prefer-offline"];
    await run(process.execPath, [pnpm, "add", ...store, ...packages], registry);
  }
  return directory;
}

async function stackOf(directory: string, name: string, env: Record<string, string>): Promise<Stack> {
  const state = join(directory, "state");
  await mkdir(state, { recursive: true });
  const envVars = {
    PULUMI_HOME: join(directory, "home"),
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: "test",
    PULUMI_SKIP_UPDATE_CHECK: "1",
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
    // Started as by a user, without the options that make tests faster.
    NODE_OPTIONS: "",
    ...env,
  };
  const stack = await LocalWorkspace.createStack({ stackName: name, workDir: directory }, { envVars });
  readKeptState(stack, state);
  return stack;
}

/** Switches a stack to the plugin of the installed package and back, without changes. */
async function movesToPlugin(directory: string, stack: Stack): Promise<void> {
  const options = { cwd: directory, env: { ...process.env, ...stack.workspace.envVars } };
  const { stdout: said } = await run("npx", ["recommender", "plugin", "install", "--json"], options);
  expect(JSON.parse(said)).toEqual({ plugin: "recommender", version });
  for (const [binding, prefix] of [
    ["plugin", "recommender:index:"],
    ["dynamic", "pulumi-nodejs:dynamic/recommender:"],
  ] as const) {
    await run("pulumi", ["config", "set", "recommender:binding", binding, "--stack", stack.name], options);
    expect((await stack.up()).summary.resourceChanges).toEqual({ same: 8 });
    const { deployment } = await stack.exportStack();
    const types = (deployment.resources as { type: string }[]).map(({ type }) => type);
    expect(types).toContain(`${prefix}EventDataset`);
    expect(types.filter((type) => /recommender:/.test(type) && !type.startsWith(prefix))).toEqual([]);
  }
  const { stdout: schema } = await run("pulumi", ["package", "get-schema", `recommender@${version}`], {
    ...options,
    maxBuffer: 2 ** 26,
  });
  const committed = JSON.parse(await readFile(join(repository, "schema.json"), "utf8"));
  const { resources, functions } = JSON.parse(schema);
  expect(Object.keys(resources).sort()).toEqual(Object.keys(committed.resources).sort());
  expect(Object.keys(functions).sort()).toEqual(Object.keys(committed.functions).sort());
}

/** Previews a stack with the policy pack of the installed package, without and with the library that it needs. */
async function isCheckedByPolicies(directory: string, stack: Stack): Promise<void> {
  const options = { cwd: directory, env: { ...process.env, ...stack.workspace.envVars } };
  const pack = "node_modules/pulumi-recommender/policy-pack";
  const preview = async () => {
    const ended = run("pulumi", ["preview", "--stack", stack.name, "--policy-pack", pack], options);
    const failed = await ended.catch((error) => error as { code?: number; stdout: string; stderr: string });
    expect(failed).toHaveProperty("code");
    return `${failed.stdout}${failed.stderr}`;
  };
  expect(await preview()).toContain("Run `npm install --save-dev @pulumi/policy`");
  const install = ["install", "--save-dev", "--prefer-offline", "--no-audit", "--no-fund", "@pulumi/policy"];
  await run("npm", install, { cwd: directory, env: registryEnv() });
  expect(await preview()).toContain("EventDataset events holds data of Project shop and is not protected");
}

describe("the published package", () => {
  test("works after an npm install without configuration, on the embedded service, with both bindings", async () => {
    const directory = await install("npm");
    const lookup = "recommender.getEventDatasetOutput({ eventDatasetId: events.id })";
    await writeFile(join(directory, "index.ts"), `${program}export const found = ${lookup}.name;`);
    const stack = await stackOf(directory, "embedded", {});
    const { outputs } = await stack.up();
    expect(outputs.eventDatasetId?.value).toMatch(/./);
    // A lookup uses the service of the resources.
    expect(outputs.found?.value).toBe("events");
    expect((await stack.up()).summary.resourceChanges).toEqual({ same: 8 });
    const recommender = join(directory, "node_modules/.bin/recommender");
    const { stdout } = await run(recommender, ["status", "--json"], { cwd: directory });
    expect(JSON.parse(stdout)).toMatchObject({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1/) });
    await isCheckedByPolicies(directory, stack);
    await movesToPlugin(directory, stack);
    // A later version of the package has a different message. The state contains no code of the old one.
    const file = join(directory, "node_modules/pulumi-recommender/dist/provider/lifecycle/existing.js");
    await writeFile(file, (await readFile(file, "utf8")).replace("is orphaned:", "stays behind:"));
    const { stdout: said } = await stack.destroy();
    expect(said).toMatch(/UserDataset users \(\S+\) stays behind:/);
    await run(recommender, ["stop"], { cwd: directory });
  });

  test("exports the types that a wrapper needs, and no internal types", async () => {
    const directory = join(packed, "npm");
    await writeFile(join(directory, "wrapper.ts"), wrapper);
    const compiler = require.resolve("typescript/bin/tsc");
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "commonjs"];
    await run(process.execPath, [compiler, ...options, "wrapper.ts"], { cwd: directory }).catch(
      ({ stdout }) => {
        throw new Error(stdout);
      },
    );
    const names = "console.log(Object.keys(require('pulumi-recommender')).sort().join(' '))";
    const { stdout } = await run(process.execPath, ["-e", names], { cwd: directory });
    expect(stdout.trim().split(" ")).toEqual([
      ...[
        "Algorithm",
        "Client",
        "ClusteringJob",
        "Deployment",
        "DeploymentJob",
        "EventDataset",
        "EventRecords",
      ],
      ...["ItemDataset", "ItemRecords", "Model", "Project", "Provider", "QueryingJob"],
      ...["RecommendationJob", "TrainingJob"],
      ...[
        "UserClustering",
        "UserDataset",
        "UserQuery",
        "UserRecommendations",
        "UserRecords",
        "getEventDataset",
        "getEventDatasetOutput",
      ],
      ...[
        "getJob",
        "getJobOutput",
        "getModel",
        "getModelOutput",
        "listEventDatasets",
        "listEventDatasetsOutput",
      ],
      ...["listModels", "listModelsOutput", "numShardsFor", "recommend", "recommendOutput"],
    ]);
  });

  test("names the package to install for models in a bucket, which is not a dependency", async () => {
    const directory = join(packed, "npm");
    const serve = ["recommender", "serve", "--ephemeral", "--files", "s3://bucket"];
    await expect(run("npx", serve, { cwd: directory })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "Run `npm install @aws-sdk/client-s3 @aws-sdk/lib-storage @aws-sdk/s3-request-presigner`",
      ),
    });
  });

  test("works after a pnpm install", async () => {
    const directory = await install("pnpm");
    const other = new OtherService();
    await writeFile(join(directory, "index.ts"), program + served);
    const stack = await stackOf(directory, "pnpm", await other.start());
    await stack.up();
    expect(other.deployed).toBeDefined();
    await stack.destroy();
    await other.stop();
  });
});
