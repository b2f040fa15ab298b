import { spawnSync } from "node:child_process";
import { type Browser, chromium as playwright } from "playwright-core";

/**
 * Starts the Chromium that comes with the packages: nothing is downloaded beside them. Where the system lacks
 * libraries of it, those that come along are used; the package looks at this variable to tell that they are needed.
 */
export async function startBrowser(): Promise<Browser> {
  const { default: chromium } = await import("@sparticuz/chromium");
  let executablePath = await chromium.executablePath();
  const { stdout } = spawnSync("ldd", [executablePath], { encoding: "utf8" });
  if (stdout?.includes("not found")) {
    process.env.AWS_LAMBDA_JS_RUNTIME = "nodejs20.x";
    executablePath = await chromium.executablePath();
  }
  // In one process, as the package suggests for its own purposes, a page that closes takes the others with it.
  const args = chromium.args.filter((arg) => !["--single-process", "--no-zygote"].includes(arg));
  return playwright.launch({ executablePath, args, headless: true });
}
