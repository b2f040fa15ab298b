import type { Command } from "commander";
import type { z } from "zod";
import { decode } from "../../contract";
import type { statusReply } from "../../service/embedded";
import {
  type DataDirectoryOptions,
  dataDirectoryOf,
  stackHint,
  withDataDirectory,
} from "../stack/data-directory";
import { escapeControls, table } from "../terminal/layout";
import { formatCount, formatDuration, type OutputOptions, print } from "../terminal/output";

type Status = z.output<typeof statusReply>;

/** Adds `recommender status`. */
export function addStatus(program: Command): void {
  withDataDirectory(program.command("status"))
    .description("Tell what the service of a folder holds and does.")
    .option("--json", "print the whole status as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender status --stack dev\n  recommender status --data ./other --json",
    )
    .action(async (options: DataDirectoryOptions & OutputOptions) => {
      const data = await dataDirectoryOf(options);
      const {
        findRunning,
        folderAt,
        isLocked,
        notAnswering,
        statusReply: schema,
      } = await import("../../service/embedded.js");
      const folder = folderAt(data);
      const running = await findRunning(folder);
      if (!running && isLocked(folder)) throw new Error(notAnswering(folder, data));
      if (!running)
        throw new Error(
          `No service runs for ${data}; start one with \`recommender serve --data ${data}\`.${await stackHint(options)}`,
        );
      const answer = await fetch(`${running.url}/status`, { headers: { apikey: running.key } });
      const wire = await answer.json();
      print(options, wire, () => describe(decode(schema, wire) as Status));
    });
}

function describe(of: Status): string {
  const { jobs } = of;
  const datasets = of.datasets.map(({ kind, id, name, records, numShards }) => {
    return [kind, id, name, records.toLocaleString("en"), String(numShards)];
  });
  const deployments = of.deployments.map(
    (one) => `${one.projectId} serves ${one.generatorModelId}, ${one.qps}/s`,
  );
  return [
    `${of.url}, version ${of.version}, process ${of.pid}, up ${formatDuration(of.uptimeSec)}`,
    escapeControls(of.dataDir),
    "",
    ...(datasets.length > 0 ? [table(["KIND", "ID", "NAME", "RECORDS", "SHARDS"], datasets)] : []),
    [
      formatCount(of.projects, "project"),
      formatCount(of.algorithms, "algorithm"),
      formatCount(of.models, "model"),
    ].join(", "),
    `Jobs: ${jobs.pending} pending, ${jobs.running} running, ${jobs.succeed} succeeded, ${jobs.failed} failed`,
    ...deployments,
    "",
  ].join("\n");
}
