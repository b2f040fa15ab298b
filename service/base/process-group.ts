import { spawnSync } from "node:child_process";

/** Kills a process group, given the pid of its leader. */
export function killProcessGroup(pid: number): void {
  // Windows has no process groups, but taskkill can kill a process with its children.
  if (process.platform === "win32") spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"]);
  else
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}
