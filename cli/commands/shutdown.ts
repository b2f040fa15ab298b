import type { Command } from "commander";
import { routes } from "../../contract";
import { type ServiceOptions, usingService, withService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { print } from "../terminal/output";

const help = `
Models that no deployment uses can be deleted. A deployment that a stack holds
is better taken out of its program.

Examples:
  recommender shutdown --project ID
  recommender shutdown --stack dev --yes`;

interface ShutdownOptions extends ServiceOptions {
  readonly project?: string;
  readonly yes?: true;
}

/** Adds `recommender shutdown`. */
export function addShutdown(program: Command): void {
  withService(program.command("shutdown").description("Take the models of a project out of service."))
    .option("--project <id>", "project that stops serving; with --stack its name, or the only one")
    .option("--yes", "do not ask")
    .addHelpText("after", help)
    .action(shutdown);
}

async function shutdown(options: ShutdownOptions): Promise<void> {
  await usingService(options, async ({ client, resolveId }) => {
    const projectId = resolveId("Project", options.project, "--project");
    await confirm(`Have project ${projectId} stop serving?`, options.yes);
    await client.call(routes.shutdownDeployment, { projectId });
    print(options, { projectId }, () => `Project ${projectId} no longer serves\n`);
  });
}
