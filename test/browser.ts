import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as playwright,
} from "playwright-core";

/** Starts a browser: the Chromium of an npm package on Linux, the installed Chrome elsewhere. */
export async function startBrowser(extraArgs: readonly string[] = []): Promise<Browser> {
  if (process.platform !== "linux" || process.arch !== "x64")
    return playwright.launch({ channel: "chrome", args: [...extraArgs] });
  // With this variable, the package also unpacks libraries that a minimal system lacks.
  process.env.AWS_LAMBDA_JS_RUNTIME = "nodejs20.x";
  const { default: chromium } = await import("@sparticuz/chromium");
  const args = [...chromium.args.filter((arg) => !unwanted.includes(arg)), "--disable-gpu", ...extraArgs];
  const executablePath = await withLock(() => chromium.executablePath());
  return playwright.launch({ executablePath, args, env: await withFonts(), headless: true });
}

/** Opens a browser session without time limits. A busy machine can take more than a minute to draw a frame. */
export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: "en-US", ...options });
  context.setDefaultTimeout(0);
  return context;
}

/** Lets one test file at a time unpack the browser. A program cannot be started while it is being written. */
async function withLock<T>(unpack: () => Promise<T>): Promise<T> {
  const lock = join(tmpdir(), "unpacking-chromium");
  const takeLock = () =>
    mkdir(lock).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
        return false;
      },
    );
  while (!(await takeLock())) await sleep(50);
  return unpack().finally(() => rmdir(lock));
}

const unwanted = [
  // In a single process, closing one page would close all others.
  "--single-process",
  "--no-zygote",
  // These options would disable the same-origin policy, which tests check.
  "--disable-web-security",
  "--allow-running-insecure-content",
  "--disable-site-isolation-trials",
  // Software emulation of a GPU takes twice as long as rendering without a GPU.
  "--ignore-gpu-blocklist",
  "--in-process-gpu",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

/** Configures the fonts of the package, which it would only find in /tmp. Without fonts, text has no width. */
async function withFonts(): Promise<NodeJS.ProcessEnv> {
  const fonts = join(tmpdir(), "fonts");
  const file = join(fonts, "tests.conf");
  await writeFile(file, `<fontconfig><dir>${fonts}</dir><cachedir>${fonts}</cachedir></fontconfig>`);
  return { ...process.env, FONTCONFIG_FILE: file };
}
