// Parent process of a trainer command. It kills the command's process group when the service ends or is killed.

import { spawn } from "node:child_process";
import { killProcessGroup } from "../base/process-group";

/** Exit of a command. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Error message if the command could not be started. */
  readonly error?: string;
}

process.on("disconnect", () => killProcessGroup(process.pid));
// The command arrives in a message instead of an argument, because every user of the machine can see arguments.
process.once("message", (command: string) => {
  const report = (exit: Exit) => process.send?.(exit);
  const child = spawn(command, { shell: true, stdio: ["ignore", "inherit", "inherit"] });
  child.on("error", ({ message }) => report({ code: null, signal: null, error: message }));
  child.on("exit", (code, signal) => report({ code, signal }));
});
