import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Report } from "../cli/drift/finding";
import { Client, endpointToken } from "../client/client";
import { routes } from "../contract";
import { startService } from "../service";
import { goal, report } from "./report/report";
import { BenchStack } from "./up/stack";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { resources: Math.ceil(200 * scale), drifted: Math.ceil(20 * scale), rounds: 2 };
const command = join(__dirname, "..", "dist", "cli", "main.js");

/** The durations of one round: the engine without the report, and the report. */
interface Round {
  readonly previewSeconds: number;
  readonly reportSeconds: number;
}

async function main(): Promise<void> {
  const service = await startService({ log: "none", planShards: 10 * shape.resources });
  const tokenUrl = `${service.url}/oauth/token`;
  const stack = await BenchStack.create("dynamic", {
    RECOMMENDER_BASE_URL: service.url,
    RECOMMENDER_API_KEY: service.key,
    RECOMMENDER_TOKEN_URL: tokenUrl,
    RECOMMENDER_CLIENT_ID: "bench",
    RECOMMENDER_CLIENT_SECRET: service.key,
    BENCH_COUNT: String(shape.resources),
  });
  const token = endpointToken({ url: tokenUrl, clientId: "bench", clientSecret: service.key });
  const client = new Client({ baseUrl: service.url, apiKey: service.key, token });
  try {
    await stack.run(["up", "--yes", "--skip-preview"]);
    const clean = await rounds(stack, 0);
    const { eventDatasets } = await client.call(routes.listEventDatasets, {});
    for (const { eventDatasetId } of eventDatasets.slice(0, shape.drifted)) {
      const renamed = { eventDatasetId, name: "renamed by hand", attributeSchema: null };
      await client.call(routes.updateEventDataset, renamed);
    }
    const drifted = await rounds(stack, shape.drifted);
    conclude(clean, drifted);
  } finally {
    await client.close();
    stack.dispose();
    await service.close();
  }
}

/** Alternates between the two, so changes in the speed of the machine affect both. */
async function rounds(stack: BenchStack, expected: number): Promise<Round[]> {
  const measured: Round[] = [];
  for (let round = 0; round < shape.rounds; round++) {
    const { seconds: previewSeconds } = await stack.run(["preview", "--refresh"]);
    const { seconds: reportSeconds, found } = await reported(stack);
    const { drift, resources } = found.stacks[0] ?? { drift: [], resources: 0 };
    if (drift.length !== expected || resources !== shape.resources) {
      throw new Error(
        `The report lists drift in ${drift.length} of ${resources} resources, expected ${expected}.`,
      );
    }
    console.log(`preview --refresh ${previewSeconds.toFixed(1)} s, report ${reportSeconds.toFixed(1)} s`);
    measured.push({ previewSeconds, reportSeconds });
  }
  return measured;
}

async function reported({ directory, environment }: BenchStack): Promise<{ seconds: number; found: Report }> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [command, "drift", "--stack", "bench", "--json", "--fail-on", "none"],
    {
      cwd: directory,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let text = "";
  child.stdout.on("data", (part) => {
    text += part;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`The report exited with code ${code}.`);
  return { seconds: (performance.now() - began) / 1000, found: JSON.parse(text) };
}

function conclude(clean: readonly Round[], drifted: readonly Round[]): void {
  const sum = (of: readonly Round[], key: keyof Round) => of.reduce((total, round) => total + round[key], 0);
  const ratio = (of: readonly Round[]) => sum(of, "reportSeconds") / sum(of, "previewSeconds");
  const ratios = { clean: ratio(clean), drifted: ratio(drifted) };
  const goals = [
    goal(`report of ${shape.resources} as declared / preview --refresh`, "≤", 1.5, ratios.clean),
    goal(
      `report of ${shape.resources}, ${shape.drifted} drifted / preview --refresh`,
      "≤",
      1.5,
      ratios.drifted,
    ),
  ];
  report("drift", { ratios, goals, absolute: { clean, drifted }, shape });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
