import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { version as pulumiVersion } from "@pulumi/pulumi/package.json";
import type { History, Release } from "../../cli/release/history";
import { routes } from "../../contract";
import { ObservedService } from "../engine/observed-service";
import { registryEnv } from "../tools/provide";

const execute = promisify(execFile);
const packageRoot = join(__dirname, "../..");

/** Stack of the shop, with a separate service. */
export type StackName = "dev" | "prod";

const pulumiYaml = `name: shop
runtime:
  name: nodejs
  options:
    typescript: false
`;

/** Returns a program in JavaScript, because the engine starts it often. */
export const program = ({ trigger = "w1", eventShards = 1 } = {}) => `
const pulumi = require("@pulumi/pulumi");
const recommender = require("pulumi-recommender");
const retrainedAt = new pulumi.Config().get("retrainedAt") ?? "";
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: ${eventShards}, name: "events" });
const history = new recommender.EventRecords("history", { eventDatasetId: events.id, source: "events.csv" });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", { projectId: project.id, algorithmParameters: { dimensions: 8 } });
const model = new recommender.Model("weekly", {
  projectId: project.id, algorithmId: algorithm.id, triggers: [history.contentHash, "${trigger}", retrainedAt],
}, { retainOnDelete: true });
new recommender.Deployment("live", {
  projectId: project.id, generatorModelId: model.modelId, qps: 100, check: { userIds: ["u1"] },
});
`;

const policy = `promotion:
  order: [dev, prod]
  stages:
    prod:
      approvals:
        required: 1
        by: [grace]
        source: environment
`;

/** Each user likes the items of one of two genres. */
function eventsFile(): string {
  const rows = Array.from({ length: 240 }, (_, at) => {
    const [u, k] = [at % 30, Math.floor(at / 30)];
    return `u${u},i${(u % 2) + 2 * ((u * 5 + k) % 12)},2026-01-0${k + 1},purchase`;
  });
  return `userId,itemId,ts,eventType\n${rows.join("\n")}\n`;
}

/**
 * Git repository of a shop, with its program, its pipelines and the packed package, which it installs from a tarball. The
 * repository has an origin that pipelines clone and push to. Each stack has a separate service.
 */
export class ShopRepository {
  readonly services = {} as Record<StackName, ObservedService>;
  /** Secrets that every job with access to a stack needs. */
  readonly secrets: Record<string, string>;
  #batches = 0;

  private constructor(private readonly root: string) {
    this.secrets = {
      PULUMI_CONFIG_PASSPHRASE: "correct horse battery staple",
      PULUMI_BACKEND_URL: `file://${join(root, "state")}`,
    };
  }

  /** @param pipelines files to commit, by their path */
  static async make(
    pipelines: Readonly<Record<string, string>>,
    stacks: readonly StackName[],
  ): Promise<ShopRepository> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "recommender-pipelines-")));
    const shop = new ShopRepository(root);
    for (const name of ["state", "jobs", "bin", "clone/vendor"])
      await mkdir(join(root, name), { recursive: true });
    const files: Record<string, string> = {
      "Pulumi.yaml": pulumiYaml,
      "index.js": program(),
      "events.csv": eventsFile(),
      "recommender.yaml": policy,
      ".gitignore": "node_modules\n",
      ...pipelines,
    };
    for (const [file, text] of Object.entries(files)) await shop.write(file, text);
    await shop.#installPackage();
    await shop.#addCommands();
    await shop.git("init", "--quiet", "--initial-branch=main");
    for (const stack of stacks) await shop.#addStack(stack);
    await execute("git", ["init", "--quiet", "--bare", "--initial-branch=main", shop.origin]);
    await shop.git("remote", "add", "origin", `file://${shop.origin}`);
    await shop.push("A shop");
    return shop;
  }

  async dispose(): Promise<void> {
    await Promise.all(Object.values(this.services).map((service) => service.close()));
    await rm(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** Repository that the pipelines clone. */
  get origin(): string {
    return join(this.root, "origin.git");
  }

  /** Clone of a developer. */
  get clone(): string {
    return join(this.root, "clone");
  }

  /** Environment of a job on a new machine, without the variables of this process. */
  async newMachine(): Promise<{ home: string; workspace: string; env: Record<string, string> }> {
    const home = await mkdtemp(join(this.root, "jobs", "job-"));
    const workspace = join(home, "workspace");
    await mkdir(join(home, "temp"));
    return { home, workspace, env: { ...this.#environment(home), CI: "true" } };
  }

  write(file: string, text: string): Promise<void> {
    const path = join(this.clone, file);
    return mkdir(dirname(path), { recursive: true }).then(() => writeFile(path, text));
  }

  async git(...args: string[]): Promise<string> {
    const who = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
    const { stdout } = await execute("git", [...who, ...args], { cwd: this.clone });
    return stdout.trim();
  }

  /** Commits all files and pushes them to a branch of the origin. Returns the commit. */
  async push(message: string, branch = "main"): Promise<string> {
    await this.git("add", "--all");
    await this.git("commit", "--quiet", "--allow-empty", "--message", message);
    await this.git("push", "--quiet", "--force", "origin", `HEAD:${branch}`);
    return this.git("rev-parse", "HEAD");
  }

  /** Updates the clone to the main branch of the origin, which pipelines push to. */
  async pull(): Promise<void> {
    await this.git("fetch", "--quiet", "origin");
    await this.git("checkout", "--quiet", "-B", "main", "origin/main");
  }

  /** Commits on the main branch of the origin, newest first, as `author: message`. */
  async log(): Promise<string[]> {
    const format = "--format=%an: %s";
    const { stdout } = await execute("git", ["log", format, "main"], { cwd: this.origin });
    return stdout.trim().split("\n");
  }

  /** Releases of a stack on the main branch of the origin. */
  async releases(stack: StackName): Promise<Release[]> {
    const file = `main:releases/${stack}.json`;
    const shown = await execute("git", ["show", file], { cwd: this.origin }).catch(() => undefined);
    return shown ? (JSON.parse(shown.stdout) as History).releases : [];
  }

  /** Returns the jobs that were submitted to a service since the last call. */
  submissions(stack: StackName): string[] {
    return this.services[stack].calls().filter((call) => call.startsWith("POST /submit-"));
  }

  /** Adds 8 % to the events of a stack, in the taste of their users. */
  async addEvents(stack: StackName): Promise<void> {
    const service = this.services[stack];
    const { eventDatasets } = await service.call(routes.listEventDatasets, {});
    const eventDatasetId = eventDatasets[0]?.eventDatasetId ?? "";
    const batch = this.#batches++;
    const events = Array.from({ length: 20 }, (_, n) => ({
      eventId: `batch-${batch}-${n}`,
      userId: `u${n}`,
      itemId: `i${(n + 2 * batch) % 24}`,
      ts: 1_790_000_000_000 + n,
      eventType: "purchase",
    }));
    await service.call(routes.upsertDatasetEvents, { eventDatasetId, events });
  }

  /** Runs the engine on the developer's machine. */
  async pulumi(...args: string[]): Promise<string> {
    const env = { ...this.#environment(join(this.root, "developer")), ...this.secrets };
    return (await execute("pulumi", args, { cwd: this.clone, env })).stdout;
  }

  #environment(home: string): Record<string, string> {
    return {
      PATH: [join(this.root, "bin"), process.env.PATH].join(delimiter),
      HOME: home,
      LANG: "C.UTF-8",
      GIT_CONFIG_NOSYSTEM: "1",
      PULUMI_SKIP_UPDATE_CHECK: "1",
      // All jobs share a download cache, so each package is downloaded once.
      npm_config_cache: join(this.root, "npm-cache"),
      RECOMMENDER_JOB_POLL_MS: "50",
    };
  }

  /** Packs the package into the repository and installs it, as review.yml recommends. */
  async #installPackage(): Promise<void> {
    const vendor = join(this.clone, "vendor");
    await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", vendor], { cwd: packageRoot });
    const [tarball = ""] = await readdir(vendor);
    const dependencies = {
      "@pulumi/pulumi": pulumiVersion,
      "pulumi-recommender": `file:vendor/${tarball}`,
    };
    await this.write("package.json", JSON.stringify({ name: "shop", private: true, dependencies }, null, 2));
    const options = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
    await execute("npm", ["install", ...options], { cwd: this.clone, env: registryEnv() });
  }

  /** Adds an `npm` that installs a locked set of packages once: later jobs get a copy, like from the cache of a host. */
  async #addCommands(): Promise<void> {
    const { stdout: npm } = await execute("which", ["npm"]);
    const file = join(this.root, "bin/npm");
    const script = `#!/bin/sh
set -e
if [ "$*" != ci ]; then exec '${npm.trim()}' "$@"; fi
cmp -s package-lock.json '${this.clone}/package-lock.json' || { echo "another lock file" >&2; exit 1; }
test -f vendor/*.tgz
cp -al '${this.clone}/node_modules' node_modules
`;
    await writeFile(file, script);
    await chmod(file, 0o755);
  }

  async #addStack(stack: StackName): Promise<void> {
    const service = await ObservedService.start({ faults: true });
    this.services[stack] = service;
    await this.pulumi("stack", "init", stack, "--non-interactive");
    const values = Object.entries(service.config).flatMap(([key, value]) => [
      /Key|Secret/.test(key) ? "--secret" : "--plaintext",
      `${key}=${value}`,
    ]);
    await this.pulumi("config", "set-all", "--stack", stack, ...values);
  }
}

/** Reads a file of the package, such as an example pipeline. */
export async function exampleFile(file: string): Promise<string> {
  return readFile(join(packageRoot, file), "utf8");
}
