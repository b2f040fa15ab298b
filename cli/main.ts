#!/usr/bin/env node
import { Command } from "commander";
import { version } from "../package.json";
import { addDrift } from "./drift";
import { addImport } from "./import";
import { addReset } from "./reset";
import { addServe } from "./serve";
import { addStatus } from "./status";
import { addStop } from "./stop";

/** The `recommender` command. */
export function createProgram(): Command {
  const program = new Command("recommender")
    .description("Recommendation services as code: the embedded service and its data.")
    .version(version)
    .showHelpAfterError("Run with --help for the options.");
  addServe(program);
  addStop(program);
  addReset(program);
  addStatus(program);
  addImport(program);
  addDrift(program);
  return program;
}

if (require.main === module) {
  createProgram()
    .parseAsync()
    .catch((error: Error) => {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = error.name === "FolderBusyError" ? 3 : 1;
    });
}
