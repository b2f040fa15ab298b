#!/usr/bin/env node
import { Command, Help } from "commander";
import { version } from "../package.json";
import { addBatch } from "./commands/batch";
import { addClients } from "./commands/clients";
import { addCluster } from "./commands/cluster";
import { addComment } from "./commands/comment";
import { addCompletion } from "./commands/completion";
import { addDatasets } from "./commands/datasets";
import { addDistribution } from "./commands/distribution";
import { addDrift } from "./commands/drift";
import { addEvents } from "./commands/events";
import { addExport } from "./commands/export";
import { addImport } from "./commands/import";
import { addInterrupted } from "./commands/interrupted";
import { addJobs } from "./commands/jobs";
import { addModels } from "./commands/models";
import { addOpen } from "./commands/open";
import { addOrphans } from "./commands/orphans";
import { addPlugin } from "./commands/plugin";
import { addPromote } from "./commands/promote";
import { addQuery } from "./commands/query";
import { addRecommend } from "./commands/recommend";
import { addRelease } from "./commands/release";
import { addReleases } from "./commands/releases";
import { addReset } from "./commands/reset";
import { addRestore } from "./commands/restore";
import { addRetrain } from "./commands/retrain";
import { addReview } from "./commands/review";
import { addRollback } from "./commands/rollback";
import { addServe } from "./commands/serve";
import { addShutdown } from "./commands/shutdown";
import { addStatus } from "./commands/status";
import { addStop } from "./commands/stop";
import { addUsers } from "./commands/users";
import { addWatch } from "./commands/watch";
import { addWhoami } from "./commands/whoami";
import { serviceGroup } from "./stack/service";
import { exitWithError, handleWriteError } from "./terminal/exit";
import { wrapLines } from "./terminal/layout";
import { tracedCommand } from "./terminal/tracing";

const help = `
Every command has --help with examples. The service and its credentials come
from RECOMMENDER_… variables or, with --stack NAME, from a Pulumi stack. The
default is the embedded service of ./.recommender.`;

/** Commands by their group in the help text. */
const groups = {
  "The embedded service": [addServe, addStatus, addOpen, addStop, addReset, addClients],
  "Backup, and moving to another store": [addExport, addRestore],
  Data: [addDatasets, addImport, addEvents, addUsers, addOrphans],
  Models: [addModels, addJobs, addRecommend, addBatch, addQuery, addDistribution, addCluster, addShutdown],
  Stacks: [
    addDrift,
    addReview,
    addComment,
    addInterrupted,
    addRelease,
    addReleases,
    addPromote,
    addRollback,
    addRetrain,
    addWatch,
    addPlugin,
  ],
};

/** Creates the `recommender` command. */
export async function createProgram(): Promise<Command> {
  const program = new Command("recommender")
    .description("Recommendation services as code: the embedded service, data, models and stacks.")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    // Throw instead of calling process.exit, which can lose output that is not written yet.
    .exitOverride()
    .showHelpAfterError("Run with --help for the options.")
    .configureHelp({ subcommandTerm: (command) => command.name(), groupItems: sharedOptionsLast })
    .configureOutput({ writeErr: (text) => process.stderr.write(wrapLines(text, process.stderr)) })
    .addHelpText("after", help);

  for (const [group, commands] of Object.entries(groups)) {
    program.commandsGroup(`${group}:`);
    for (const add of commands) add(program);
  }
  program.commandsGroup("This command:");
  addWhoami(program);
  await addCompletion(program);
  program.helpCommand("help [command]", "Show the help of a command.");
  return program;
}

/** Lists a command's own options before the options that all service commands share. */
const sharedOptionsLast: Help["groupItems"] = (items, visible, groupOf) => {
  const shared = (item: (typeof items)[number]) => Number(groupOf(item) === serviceGroup);
  return new Help().groupItems(
    [...items].sort((a, b) => shared(a) - shared(b)),
    visible,
    groupOf,
  );
};

if (require.main === module) {
  // Treat empty variables as unset. Commander would use them as values.
  for (const [name, value] of Object.entries(process.env))
    if (name.startsWith("RECOMMENDER_") && value === "") delete process.env[name];
  for (const stream of [process.stdout, process.stderr]) stream.on("error", handleWriteError);
  createProgram()
    .then((program) => tracedCommand(program, () => program.parseAsync()))
    .catch(exitWithError);
}
