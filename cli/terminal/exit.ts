import { writeSync } from "node:fs";
import { CommanderError } from "commander";
import { wrapLines } from "./layout";

/** Exit codes other than 0 (success). docs/cli.md lists the commands that use each. */
export const exitCodes = {
  /** The command failed, or its arguments are invalid. */
  failed: 1,
  /** Records were rejected, or a release, promotion or rollback was blocked. */
  rejected: 2,
  /** The command found what it checks for, such as drift. */
  found: 2,
  /** Another process has locked the data directory. */
  directoryBusy: 3,
  jobFailed: 4,
  /** The job was still running after `--timeout`. */
  jobTimeout: 5,
  /** Ctrl+C. */
  interrupted: 130,
} as const;

/** A failure with a specific exit code. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    message: string,
    readonly exitCode: number,
    /** What the command has found or done so far, printed with `--json`. */
    readonly outcome: object = {},
  ) {
    super(message);
  }
}

/** Prints an error and sets the exit code. */
export function exitWithError(error: Error): void {
  if (error instanceof CommanderError) {
    // Commander has already printed the message. Help and version end with 0.
    process.exitCode = error.exitCode;
    return;
  }
  process.stderr.write(wrapLines(`${error.message}\n`, process.stderr));
  if (error instanceof CommandError) process.exitCode = error.exitCode;
  else
    process.exitCode = error.name === "DataDirectoryBusyError" ? exitCodes.directoryBusy : exitCodes.failed;
}

/** Exits if the output cannot be written. Prints nothing if the reader closed the pipe, as `head` does. */
export function handleWriteError(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit();
  try {
    writeSync(2, `Cannot write the output: ${error.message}\n`);
  } catch {
    // Standard error is closed too.
  }
  process.exit(exitCodes.failed);
}
