import { spawn } from "node:child_process";
import type { Command } from "commander";
import { assertServiceExists, type ServiceOptions, serviceCommand, settingsOf } from "../stack/service";
import { note, print } from "../terminal/output";

interface OpenOptions extends ServiceOptions {
  readonly browser: boolean;
  readonly write?: true;
}

const help = `
The link works once, for a minute. The session lasts 12 hours. It can read, get
recommendations and run queries. With --write it has all scopes of the key or
client.

Examples:
  recommender open
  recommender open --stack dev
  recommender open --no-browser
  RECOMMENDER_BASE_URL=https://… recommender open --json`;

/** Adds `recommender open`. */
export function addOpen(program: Command): void {
  serviceCommand(program, "open", "Open the console of a service in the browser.", help)
    .option("--no-browser", "only print the address")
    .option("--write", "allow changes in the console")
    .action(open);
}

async function open(options: OpenOptions): Promise<void> {
  const { settings } = await settingsOf(options);
  await assertServiceExists(settings, options);
  const { resolveTarget } = await import("../../client/connect.js");
  const { baseUrl, apiKey } = await resolveTarget(settings);
  const service = baseUrl.replace(/\/+$/, "");
  const { code, validSec } = await requestCode(service, apiKey, options.write ?? false);
  const url = `${service}/#code=${code}`;
  const access = options.write ? "write" : "read";
  print(options, { url, validSec, access }, () => `${url}\nThe link works once, for ${validSec} seconds.\n`);
  if (options.browser && !options.json) openBrowser(url);
}

/** Requests a one-time code that opens a console session. */
async function requestCode(
  service: string,
  apikey: string,
  write: boolean,
): Promise<{ code: string; validSec: number }> {
  const response = await fetch(`${service}/console/code`, {
    method: "POST",
    headers: { apikey, "content-type": "application/json" },
    body: JSON.stringify({ write }),
    // A redirect could take the key to another host.
    redirect: "manual",
  }).catch((error) => {
    throw new Error(
      `Cannot reach the service at ${service} (${error.cause?.code ?? error.message}). ` +
        "Check its address, and whether it is running.",
    );
  });
  const body = (await response.json().catch(() => ({}))) as {
    code?: string;
    validSec?: number;
    error?: { message?: string };
  };
  if (response.ok && body.code !== undefined) return { code: body.code, validSec: body.validSec ?? 60 };
  const why = body.error?.message ?? `it returned ${response.status}`;
  throw new Error(`Cannot open the console of ${service}: ${why}`);
}

/** Commands that open an address in the browser, by platform. On all other platforms it is `xdg-open`. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

function openBrowser(url: string): void {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => note("Cannot start a browser. Open the address yourself."));
  child.unref();
}
