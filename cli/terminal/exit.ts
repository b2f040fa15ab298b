import { writeSync } from "node:fs";
import { CommanderError } from "commander";
import { fitted } from "./layout";

/** The exit codes beside 0, which means done; docs/cli.md lists them with those of other commands. */
export const exitCodes = {
  /** The command failed, or was called in a way that it does not know; the message says why. */
  failed: 1,
  /** Records were refused. */
  refused: 2,
  /** Drift, changes or whatever else was asked about were found. */
  found: 2,
  /** Another process serves the folder. */
  folderBusy: 3,
  /** The job failed. */
  jobFailed: 4,
  /** The job was not over in time; it goes on. */
  jobLate: 5,
  /** Somebody pressed Ctrl+C. */
  interrupted: 130,
} as const;

/** A command did not do what it was asked for, in a way that a script can tell from others. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    message: string,
    readonly exitCode: number,
    /** What it did nonetheless, for whoever reads JSON. */
    readonly outcome: object = {},
  ) {
    super(message);
  }
}

/** Has something done when somebody presses Ctrl+C, and ends the command; gives what calls it off. */
export function onInterrupt(report: () => void): () => void {
  const interrupted = () => {
    report();
    process.exit(exitCodes.interrupted);
  };
  process.once("SIGINT", interrupted);
  return () => process.off("SIGINT", interrupted);
}

/** Ends the command with what its error says. */
export function failWith(error: Error): void {
  if (error instanceof CommanderError) {
    // It has said so itself; help and version are among these, with 0.
    process.exitCode = error.exitCode;
    return;
  }
  process.stderr.write(fitted(`${error.message}\n`, process.stderr));
  if (error instanceof CommandError) process.exitCode = error.exitCode;
  else process.exitCode = error.name === "FolderBusyError" ? exitCodes.folderBusy : exitCodes.failed;
}

/** Ends the command where its output cannot be written: quietly where its reader has seen enough. */
export function cannotWrite(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit();
  try {
    writeSync(2, `The output cannot be written: ${error.message}\n`);
  } catch {
    // There is nobody left to say it to.
  }
  process.exit(exitCodes.failed);
}
