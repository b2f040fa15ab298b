import { spawnSync } from "node:child_process";

/** Ends a process that leads a group, with all that it has started, at once. */
export function endGroup(pid: number): void {
  // Windows has no groups, but knows who started whom.
  if (process.platform === "win32") spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"]);
  else
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}
