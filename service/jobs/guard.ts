// The process that a trainer's command runs under: when the service is gone, however that came, it ends them all.

import { spawn } from "node:child_process";
import { endGroup } from "../base/process-group";

/** How a command has ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not be started. */
  readonly error?: string;
}

process.on("disconnect", () => endGroup(process.pid));
// It comes in a message, for anybody on the machine sees the arguments of a process.
process.once("message", (command: string) => {
  const said = (ended: Ended) => process.send?.(ended);
  const child = spawn(command, { shell: true, stdio: ["ignore", "inherit", "inherit"] });
  child.on("error", ({ message }) => said({ code: null, signal: null, error: message }));
  child.on("exit", (code, signal) => said({ code, signal }));
});
