import { spawn } from "node:child_process";
import type { Command } from "commander";
import { assertServiceExists, type ServiceOptions, settingsOf, withService } from "../stack/service";
import { note, print } from "../terminal/output";

interface OpenOptions extends ServiceOptions {
  readonly browser: boolean;
  readonly write?: true;
}

const help = `
The link works once, for a minute; the session that it opens lasts 12 hours. It
is for looking: it can read, recommend and ask about users. With --write it may
do all that the key or client may do.

Examples:
  recommender open
  recommender open --stack dev
  recommender open --no-browser
  RECOMMENDER_BASE_URL=https://… recommender open --json`;

/** Adds `recommender open`. */
export function addOpen(program: Command): void {
  withService(program.command("open").description("Open the console of a service in the browser."))
    .option("--no-browser", "only print the address")
    .option("--write", "allow the page to change things")
    .addHelpText("after", help)
    .action(open);
}

async function open(options: OpenOptions): Promise<void> {
  const { settings } = await settingsOf(options);
  await assertServiceExists(settings, options);
  const { resolveTarget } = await import("../../client/connect.js");
  const { baseUrl, apiKey } = await resolveTarget(settings);
  const service = baseUrl.replace(/\/+$/, "");
  const { code, validSec } = await codeAt(service, apiKey, options.write ?? false);
  const url = `${service}/#code=${code}`;
  const access = options.write ? "write" : "read";
  print(
    options,
    { url, validSec, access },
    () => `${url}\nThe link works once, within ${validSec} seconds.\n`,
  );
  if (options.browser && !options.json) openBrowser(url);
}

async function codeAt(
  service: string,
  apikey: string,
  write: boolean,
): Promise<{ code: string; validSec: number }> {
  const answer = await fetch(`${service}/console/code`, {
    method: "POST",
    headers: { apikey, "content-type": "application/json" },
    body: JSON.stringify({ write }),
  }).catch((error) => {
    throw new Error(`The service at ${service} cannot be reached (${error.cause?.code ?? error.message}).`);
  });
  const body = (await answer.json().catch(() => ({}))) as {
    code?: string;
    validSec?: number;
    error?: { message?: string };
  };
  if (answer.ok && body.code !== undefined) return { code: body.code, validSec: body.validSec ?? 60 };
  const why = body.error?.message ?? `it answered ${answer.status}`;
  throw new Error(`The console of ${service} cannot be opened: ${why}`);
}

/** The command that opens an address, by platform. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

function openBrowser(url: string): void {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => note("No browser could be started; open the address yourself."));
  child.unref();
}
