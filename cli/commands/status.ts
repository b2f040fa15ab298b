import type { Command } from "commander";
import type { z } from "zod";
import { decode } from "../../contract";
import type { statusReply } from "../../service/embedded";
import { type DataOptions, dataDirectoryOf, stackHint, withDataDirectory } from "../stack/data-directory";
import { escapeControls, table } from "../terminal/layout";
import { examples, formatCount, formatDuration, type OutputOptions, print } from "../terminal/output";

type Status = z.output<typeof statusReply>;

/** Adds `recommender status`. */
export function addStatus(program: Command): void {
  withDataDirectory(program.command("status"))
    .description("Show the data and jobs of an embedded service.")
    .option("--json", "print the whole status as JSON")
    .addHelpText("after", examples("status --stack dev", "status --data ./other --json"))
    .action(async (options: DataOptions & OutputOptions) => {
      const data = await dataDirectoryOf(options);
      const {
        findRunning,
        dataDirectoryAt,
        isLocked,
        notAnswering,
        statusReply: schema,
      } = await import("../../service/embedded.js");
      const dataDirectory = dataDirectoryAt(data);
      const running = await findRunning(dataDirectory);
      if (!running && isLocked(dataDirectory)) throw new Error(notAnswering(dataDirectory, data));
      if (!running)
        throw new Error(
          `No service is running for ${data}. Start one with \`recommender serve --data ${data}\`.${await stackHint(options)}`,
        );
      const response = await fetch(`${running.url}/status`, { headers: { apikey: running.key } });
      const wire = await response.json();
      print(options, wire, () => describe(decode(schema, wire) as Status));
    });
}

function describe(status: Status): string {
  const { jobs } = status;
  const datasets = status.datasets.map(({ kind, id, name, records, numShards }) => {
    return [kind, id, name, records.toLocaleString("en"), String(numShards)];
  });
  const deployments = status.deployments.map(
    (one) => `Project ${one.projectId}: live model ${one.generatorModelId}, ${one.qps}/s`,
  );
  return [
    `${status.url}, version ${status.version}, process ${status.pid}, up ${formatDuration(status.uptimeSec)}`,
    escapeControls(status.dataDir),
    "",
    ...(datasets.length > 0 ? [table(["KIND", "ID", "NAME", "RECORDS", "SHARDS"], datasets)] : []),
    [
      formatCount(status.projects, "project"),
      formatCount(status.algorithms, "algorithm"),
      formatCount(status.models, "model"),
    ].join(", "),
    `Jobs: ${jobs.pending} pending, ${jobs.running} running, ${jobs.succeed} succeeded, ${jobs.failed} failed`,
    ...deployments,
    "",
  ].join("\n");
}
