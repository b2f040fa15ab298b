import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, type Ended, ended } from "../service/process";
import { Running } from "../service/running";
import { deploy, openShop, trainModel } from "../service/shop";

/** A service with a trained shop, and the `recommender` command in a separate process. */
export class ShopCommand {
  readonly directory = mkdtempSync(join(tmpdir(), "recommender-cli-"));

  private constructor(
    readonly api: Running,
    readonly ids: Awaited<ReturnType<typeof openShop>>,
    readonly modelId: string,
    readonly servingUri: string,
  ) {}

  static async open(): Promise<ShopCommand> {
    const api = await Running.start({ faults: true });
    const ids = await openShop(api);
    const modelId = await trainModel(api, ids);
    return new ShopCommand(api, ids, modelId, await deploy(api, ids.projectId, modelId));
  }

  get environment(): Record<string, string> {
    const { url, key } = this.api.service;
    return {
      RECOMMENDER_BASE_URL: url,
      RECOMMENDER_API_KEY: key,
      RECOMMENDER_TOKEN_URL: `${url}/oauth/token`,
      RECOMMENDER_CLIENT_ID: "shop",
      RECOMMENDER_CLIENT_SECRET: key,
      RECOMMENDER_JOB_POLL_MS: "20",
    };
  }

  /** Runs a command until it ends. */
  run(...args: string[]): Promise<Ended> {
    return this.runWith({}, ...args);
  }

  /** Runs a command with environment variables. An empty variable counts as unset. */
  runWith(environment: Record<string, string>, ...args: string[]): Promise<Ended> {
    const env = { ...process.env, ...this.environment, ...environment };
    const child = spawn(process.execPath, [command, ...args], {
      cwd: this.directory,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return ended(child);
  }

  /** Runs several short commands in one process, because starting a process takes longer than the command. */
  async runAll(all: readonly string[][]): Promise<Ended[]> {
    const script = `
      const { createProgram } = require(${JSON.stringify(command)});
      const { exitWithError } = require(${JSON.stringify(join(command, "../terminal/exit.js"))});
      const print = process.stdout.write.bind(process.stdout);
      (async () => {
        const all = [];
        for (const args of JSON.parse(process.argv[1])) {
          const texts = { out: "", err: "" };
          process.stdout.write = (text) => { texts.out += text; };
          process.stderr.write = (text) => { texts.err += text; };
          process.exitCode = 0;
          await createProgram().then((program) => program.parseAsync(args, { from: "user" })).catch(exitWithError);
          all.push({ code: process.exitCode, ...texts });
        }
        print(JSON.stringify(all));
        process.exitCode = 0;
      })();`;
    const child = spawn(process.execPath, ["-e", script, JSON.stringify(all)], {
      cwd: this.directory,
      env: { ...process.env, ...this.environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { code, out, err } = await ended(child);
    if (code !== 0) throw new Error(err);
    return JSON.parse(out);
  }

  /** Runs a command with --json, and parses its output. */
  async json(...args: string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await this.run(...args, "--json");
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${err}`);
    return JSON.parse(out);
  }

  /** Options that select the project and the model. */
  get asked(): string[] {
    return ["--project", this.ids.projectId, "--model", this.modelId];
  }

  async faults(switches: object): Promise<void> {
    const headers = { apikey: this.api.service.key, "content-type": "application/json" };
    const { status } = await this.api.raw("/faults", {
      method: "PUT",
      headers,
      body: JSON.stringify(switches),
    });
    if (status !== 200) throw new Error(`the service answers ${status} to faults`);
  }

  /** Counts the records of a dataset. */
  async held(datasetId: string): Promise<number> {
    const { body } = await this.api.raw("/status", { headers: { apikey: this.api.service.key } });
    const { datasets } = body as { datasets: { id: string; records: number }[] };
    return datasets.find(({ id }) => id === datasetId)?.records ?? 0;
  }

  async close(): Promise<void> {
    await this.api.end();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
