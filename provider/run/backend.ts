import { createHash } from "node:crypto";
import { existsSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseJson } from "../../client/parse";
import { engineProcess } from "./engine-command";

/** The backend of Pulumi if nothing else is configured. */
const cloud = "https://api.pulumi.com";

/**
 * The backend that this process works with, spelled in one way: `file:///srv/state` for `file://./state`, a trailing
 * slash, a symbolic link or `file://~/…`, whether the environment, the project or `pulumi login` names it. It holds no
 * credentials.
 */
export function currentBackend(): string {
  return canonical(process.env.PULUMI_BACKEND_URL || projectBackend() || loginBackend() || cloud);
}

/** The texts under which version 0.1.0 filed its journal for this backend: the variable as it was spelled. */
export function legacyBackendSpellings(): string[] {
  const { PULUMI_BACKEND_URL: given = "" } = process.env;
  const here = currentBackend();
  const current = loginBackend();
  const isLoggedIn = given === "" || (current !== undefined && canonical(current) === here);
  const spelled = [given, here, `${here}/`, ...(isLoggedIn ? ["", current ?? ""] : [])];
  return [...new Set(spelled)];
}

/**
 * A digest of what encrypts the secrets of a stack: its configuration file keeps it when the stack is renamed. It is
 * undefined if there is none, as with Pulumi Cloud. A copied configuration file has the same one.
 */
export function lineageOf(stack: string): string | undefined {
  const project = projectFile();
  if (!project) return undefined;
  const folder = resolve(dirname(project.path), /^stackConfigDir:\s*(\S+)/m.exec(project.text)?.[1] ?? "");
  const name = stack.split("/").at(-1) ?? stack;
  for (const extension of ["yaml", "yml", "json"]) {
    const text = readOrUndefined(join(folder, `Pulumi.${name}.${extension}`)) ?? "";
    const [, key] = /^\s*"?(?:encryptionsalt|encryptedkey)"?:\s*"?([^\s",]+)/m.exec(text) ?? [];
    if (key) return createHash("sha256").update(key).digest("hex").slice(0, 16);
  }
  return undefined;
}

function canonical(url: string): string {
  if (url.startsWith("file://")) return `file://${directoryAt(url.slice("file://".length))}`;
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname, searchParams } = new URL(url);
  // Buckets of one name may lie in two stores; the region or the profile of the caller make no difference.
  const endpoint = searchParams.get("endpoint");
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}${endpoint ? `?endpoint=${endpoint}` : ""}`;
}

function directoryAt(text: string): string {
  const path = decoded(text.split("?", 1)[0] as string).replace(/^~(?=$|[/\\])/, homedir());
  const places = engineDirectories().map((directory) => resolve(directory, path));
  const place = places.find((folder) => existsSync(folder)) ?? (places[0] as string);
  try {
    return realpathSync(place);
  } catch {
    return place;
  }
}

/** The directories that the engine may run in, the likeliest first: its relative paths start there. */
function engineDirectories(): string[] {
  ofEngine ??= { directory: directoryOfEngine() };
  return [ofEngine.directory, process.env.PWD, process.cwd()].flatMap((directory) => directory ?? []);
}

let ofEngine: { readonly directory: string | undefined } | undefined;

function directoryOfEngine(): string | undefined {
  const engine = engineProcess();
  try {
    return engine && readlinkSync(`/proc/${engine.pid}/cwd`);
  } catch {
    return undefined;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The backend of the last `pulumi login`. */
function loginBackend(): string | undefined {
  const home = process.env.PULUMI_HOME || join(homedir(), ".pulumi");
  const folder = process.env.PULUMI_CREDENTIALS_PATH || home;
  const text = readOrUndefined(join(folder, "credentials.json")) ?? "";
  const { current } = (parseJson(text) ?? {}) as { current?: unknown };
  return typeof current === "string" && current !== "" ? current : undefined;
}

/** The backend that the project names, which wins over `pulumi login`. */
function projectBackend(): string | undefined {
  const text = projectFile()?.text ?? "";
  return /^backend:\s*\n(?:\s+.*\n)*?\s+url:\s*["']?([^\s"']+)/m.exec(text)?.[1];
}

function projectFile(): { readonly path: string; readonly text: string } | undefined {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    for (const name of ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"]) {
      const text = readOrUndefined(join(folder, name));
      if (text !== undefined) return { path: join(folder, name), text };
    }
    if (dirname(folder) === folder) return undefined;
  }
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
