import type { Command } from "commander";
import { routes } from "../../contract";
import { type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { print } from "../terminal/output";

const help = `
Afterwards the models can be deleted. If a program declares the deployment,
remove it from the program instead.

Examples:
  recommender shutdown --project ID
  recommender shutdown --stack dev --yes`;

interface ShutdownOptions extends ServiceOptions {
  readonly project?: string;
  readonly yes?: true;
}

/** Adds `recommender shutdown`. */
export function addShutdown(program: Command): void {
  serviceCommand(program, "shutdown", "Shut down the deployment of a project.", help)
    .option("--project <id>", "project to shut down; with --stack its name, or the only one")
    .option("--yes", "skip the confirmation")
    .action(shutdown);
}

async function shutdown(options: ShutdownOptions): Promise<void> {
  await usingService(options, async ({ client, resolveId }) => {
    const projectId = resolveId("Project", options.project, "--project");
    await confirm(`Shut down the deployment of project ${projectId}?`, options.yes);
    const { deleteObject } = await import("../../client/deletion.js");
    const { isServing } = await import("../../client/serving.js");
    await deleteObject({
      send: (sending) => client.call(routes.shutdownDeployment, { projectId }, sending),
      isGone: async () => (await isServing(undefined, undefined, { client })) === false,
      meansGone: () => false,
    });
    print(options, { projectId }, () => `Shut down the deployment of project ${projectId}\n`);
  });
}
