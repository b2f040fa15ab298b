import type { Command } from "commander";
import type { z } from "zod";
import { decode } from "../contract";
import type { statusReply } from "../service";
import { defaultDataDir } from "./data";

type Status = z.output<typeof statusReply>;

/** Adds `recommender status`. */
export function addStatus(program: Command): void {
  program
    .command("status")
    .description("Tell what the service of a folder holds and does.")
    .option("--data <dir>", "folder of all data", defaultDataDir)
    .option("--json", "print the whole status as JSON")
    .action(async ({ data, json }: { data: string; json?: true }) => {
      const { findRunning, folderAt, statusReply: schema } = await import("../service/index.js");
      const running = await findRunning(folderAt(data));
      if (!running)
        throw new Error(`No service runs for ${data}; start one with \`recommender serve --data ${data}\`.`);
      const answer = await fetch(`${running.url}/status`, { headers: { apikey: running.key } });
      const wire = await answer.json();
      if (json) process.stdout.write(`${JSON.stringify(wire)}\n`);
      else process.stdout.write(describe(decode(schema, wire) as Status));
    });
}

function describe(of: Status): string {
  const { jobs } = of;
  const lines = [
    `${of.url}  version ${of.version}, process ${of.pid}, up ${Math.round(of.uptimeSec)} s, ${of.dataDir}`,
    ...of.datasets.map(
      (set) => `${set.kind} dataset ${set.id} "${set.name}": ${set.records} records, ${set.numShards} shards`,
    ),
    `${of.projects} projects, ${of.algorithms} algorithms, ${of.models} models`,
    `jobs: ${jobs.pending} pending, ${jobs.running} running, ${jobs.succeed} succeeded, ${jobs.failed} failed`,
    ...of.deployments.map(
      (one) => `serving project ${one.projectId}: model ${one.generatorModelId}, ${one.qps} per second`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}
