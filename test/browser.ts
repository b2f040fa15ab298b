import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium as playwright } from "playwright-core";

/** Starts the Chromium that comes with the packages, which is for Linux alone; elsewhere the Chrome that is there. */
export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  if (process.platform !== "linux" || process.arch !== "x64")
    return playwright.launch({ channel: "chrome", args: [...more] });
  // By this the package brings the libraries along that a bare system lacks.
  process.env.AWS_LAMBDA_JS_RUNTIME = "nodejs20.x";
  const { default: chromium } = await import("@sparticuz/chromium");
  const args = [...chromium.args.filter((arg) => !unwanted.includes(arg)), "--disable-gpu", ...more];
  const executablePath = await oneAtATime(() => chromium.executablePath());
  return playwright.launch({ executablePath, args, env: await withFonts(), headless: true });
}

/** Test files that run at once share what is unpacked, and a program that is still being written cannot be started. */
async function oneAtATime<T>(unpack: () => Promise<T>): Promise<T> {
  const turn = join(tmpdir(), "unpacking-chromium");
  const takes = () =>
    mkdir(turn).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
        return false;
      },
    );
  while (!(await takes())) await sleep(50);
  return unpack().finally(() => rmdir(turn));
}

const unwanted = [
  // In one process, as the package suggests for its own purposes, a page that closes takes the others with it.
  "--single-process",
  "--no-zygote",
  // Without these, nothing is shown of what another site's page may do.
  "--disable-web-security",
  "--allow-running-insecure-content",
  "--disable-site-isolation-trials",
  // A graphics card that the processor plays takes twice as long as drawing without one.
  "--ignore-gpu-blocklist",
  "--in-process-gpu",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

/** The package brings fonts along, but looks for them in /tmp alone; without a font, no text has a width. */
async function withFonts(): Promise<NodeJS.ProcessEnv> {
  const fonts = join(tmpdir(), "fonts");
  const file = join(fonts, "tests.conf");
  await writeFile(file, `<fontconfig><dir>${fonts}</dir><cachedir>${fonts}</cachedir></fontconfig>`);
  return { ...process.env, FONTCONFIG_FILE: file };
}
