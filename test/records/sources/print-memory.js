// Loaded into a command: prints the most memory that it has used.
const { readFileSync } = require("node:fs");

// On Linux, maxRSS includes the memory that the parent process had when it started this one.
function mostMemory() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS;
  return /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
}

process.once("exit", () => process.stderr.write(`most memory: ${mostMemory()} kB\n`));
