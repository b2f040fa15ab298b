import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseJson, percentDecoded } from "../../client/parse";
import { readIfPossible } from "../../client/state-directory";
import { engineProcess } from "./engine-command";

/** Pulumi's default backend. */
const cloud = "https://api.pulumi.com";

/**
 * Returns the URL of the configured backend in canonical form, without credentials. For example, `file://./state`,
 * `file://~/state/` and a symbolic link to the same directory all become `file:///srv/state`.
 */
export function currentBackend(): string {
  return canonical(process.env.PULUMI_BACKEND_URL || projectBackend() || loginBackend() || cloud);
}

/**
 * Returns the spellings of the backend's URL under which version 0.1.0 may have stored its journal. That version used
 * PULUMI_BACKEND_URL unchanged.
 */
export function legacyBackendSpellings(): string[] {
  const { PULUMI_BACKEND_URL: given = "" } = process.env;
  const here = currentBackend();
  const current = loginBackend();
  const isLoggedIn = given === "" || (current !== undefined && canonical(current) === here);
  const spelled = [given, here, `${here}/`, ...(isLoggedIn ? ["", current ?? ""] : [])];
  return [...new Set(spelled)];
}

function canonical(url: string): string {
  if (url.startsWith("file://")) return `file://${directoryAt(url.slice("file://".length))}`;
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname, searchParams } = new URL(url);
  // Two stores may have buckets of the same name, so the endpoint is part of the URL. Region and profile are not.
  const endpoint = searchParams.get("endpoint");
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}${endpoint ? `?endpoint=${endpoint}` : ""}`;
}

function directoryAt(text: string): string {
  const path = percentDecoded(text.split("?", 1)[0] as string).replace(/^~(?=$|[/\\])/, homedir());
  const paths = engineDirectories().map((directory) => resolve(directory, path));
  const found = paths.find((each) => existsSync(each)) ?? (paths[0] as string);
  try {
    return realpathSync(found);
  } catch {
    return found;
  }
}

/** Returns the possible working directories of the engine, most likely first. Relative backend paths start there. */
function engineDirectories(): string[] {
  engineDirectory ??= { path: directoryOfEngine() };
  return [engineDirectory.path, process.env.PWD, process.cwd()].flatMap((directory) => directory ?? []);
}

let engineDirectory: { readonly path: string | undefined } | undefined;

function directoryOfEngine(): string | undefined {
  const engine = engineProcess();
  try {
    return engine && readlinkSync(`/proc/${engine.pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** Returns the backend of the last `pulumi login`. */
function loginBackend(): string | undefined {
  const home = process.env.PULUMI_HOME || join(homedir(), ".pulumi");
  const directory = process.env.PULUMI_CREDENTIALS_PATH || home;
  const text = readIfPossible(join(directory, "credentials.json")) ?? "";
  const { current } = (parseJson(text) ?? {}) as { current?: unknown };
  return typeof current === "string" && current !== "" ? current : undefined;
}

/** Returns the backend in the project file, which takes precedence over `pulumi login`. */
function projectBackend(): string | undefined {
  const text = projectFile() ?? "";
  return /^backend:\s*\n(?:\s+.*\n)*?\s+url:\s*["']?([^\s"']+)/m.exec(text)?.[1];
}

/** Returns the text of the project file in the working directory or a directory above it. */
function projectFile(): string | undefined {
  for (let directory = process.cwd(); ; directory = dirname(directory)) {
    for (const name of ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"]) {
      const text = readIfPossible(join(directory, name));
      if (text !== undefined) return text;
    }
    if (dirname(directory) === directory) return undefined;
  }
}
