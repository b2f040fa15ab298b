import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The compiled command. The setup of the tests builds it. */
export const command = join(__dirname, "..", "..", "dist", "cli", "main.js");

/** A service in a separate process. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly key: string;
  /** Returns its output to stderr. */
  said(): string;
  /** Sends a signal and waits until the process has exited. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Ends a start that hangs, as `tools/jest/test-file-setup.js` ends other commands. */
const startLimitMs = 900_000;

/** Starts a service and waits until it is ready. */
export async function serve(...options: string[]): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [command, "serve", "--json", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    env: process.env,
  });
  let errors = "";
  child.stderr.on("data", (text) => {
    errors += text;
  });
  const late = setTimeout(() => child.kill("SIGKILL"), startLimitMs);
  const line = await Promise.race([
    once(child.stdout, "data").then(([text]) => String(text)),
    once(child, "exit").then(() =>
      Promise.reject(
        new Error(`the service ended at its start, or did not start in ${startLimitMs / 1000} s: ${errors}`),
      ),
    ),
  ]).finally(() => clearTimeout(late));
  const { url, keyFile } = JSON.parse(line);
  const { RECOMMENDER_API_KEY: given = "" } = process.env;
  return {
    child,
    url,
    // With PostgreSQL, the key is an option.
    key: keyFile === undefined ? given : readFileSync(keyFile, "utf8").trim(),
    said: () => errors,
    end: async (signal = "SIGTERM") => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, "exit");
    },
  };
}

/** Exit code and output of a process. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Waits until a process with piped output has exited. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const texts = { out: "", err: "" };
  child.stdout?.on("data", (text) => {
    texts.out += text;
  });
  child.stderr?.on("data", (text) => {
    texts.err += text;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...texts };
}

/** Runs the command and waits until it has exited. */
export function run(...options: string[]): Promise<Ended> {
  const stdio = ["ignore", "pipe", "pipe"] as const;
  return ended(spawn(process.execPath, [command, ...options], { stdio: [...stdio], env: process.env }));
}
