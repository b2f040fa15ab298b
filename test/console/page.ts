import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Service, seed, startService } from "../../service";
import { openContext, startBrowser } from "../browser";
import { Caller } from "../service/running";
import { recordShop } from "./shop";

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** A name that would do harm if a page interpreted it as HTML. */
export const hostile = `<b>bold</b><img src=x onerror=alert(1)> \u202Eesrever ${"x".repeat(200)}`;

/** An open page of the console. */
interface Look {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and console messages of the page, and its requests to other sites. */
  readonly faults: string[];
}

/** A service with the data of the record shop, and a browser, for all tests of a file. */
export class Shop {
  private constructor(
    readonly service: Service,
    readonly caller: Caller,
    readonly browser: Browser,
    readonly projectId: string,
  ) {}

  static async open(): Promise<Shop> {
    const service = await startService({ log: "none" });
    const projectId = await seed(service, recordShop());
    const browser = await startBrowser(["--host-resolver-rules=MAP evil.test 127.0.0.1"]);
    return new Shop(service, new Caller(service), browser, projectId);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.caller.close();
    await this.service.close();
  }

  /** Returns a link that signs in with the API key or with the secret of a client. */
  async link(more: { readonly write?: boolean } = {}, apikey: string = this.service.key): Promise<string> {
    const { body } = await this.caller.raw("/console/code", {
      method: "POST",
      headers: { apikey, "content-type": "application/json" },
      body: JSON.stringify(more),
    });
    return `${this.service.url}/#code=${body.code}`;
  }

  async signIn(
    options: Parameters<Browser["newContext"]>[0] = {},
    ...more: Parameters<Shop["link"]>
  ): Promise<Look> {
    const context = await openContext(this.browser, options);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("request", (asked) => {
      if (!asked.url().startsWith(this.service.url)) faults.push(`asked for ${asked.url()}`);
    });
    await page.goto(await this.link(...more));
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    return { page, context, faults };
  }
}

/** Opens a screen. */
export async function show(page: Page, place: string, heading: string | RegExp): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
}

/**
 * Returns the accessibility problems that axe finds. The page's policy blocks foreign scripts, so axe runs in an isolated
 * world of the debugger.
 */
export async function barriers({ page, context }: Look): Promise<string[]> {
  const world = await context.newCDPSession(page);
  const { frameTree } = await world.send("Page.getFrameTree");
  const { executionContextId: contextId } = await world.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
  });
  await world.send("Runtime.evaluate", { expression: axe, contextId });
  const { result } = await world.send("Runtime.evaluate", {
    expression: `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => JSON.stringify(
      violations.filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" | "))))`,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await world.detach();
  return JSON.parse(String(result.value)) as string[];
}

/** Returns words and figures that are broken across lines. Ids, user-provided names and very long words may be. */
export async function broken(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentElement.closest("bdi, code, .id, .name, h1, h2, svg")) continue;
      for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\p{N}.+]+/gu)) {
        if (word.length > 40) continue;
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
      }
    }
    return found;
  })()`);
}

/** Returns by how many pixels the page, or an element that cannot scroll, is too wide. */
export async function overhang(page: Page): Promise<number> {
  return page.evaluate<number>(`(() => {
    const scrolls = (one) => getComputedStyle(one).overflowX !== "visible";
    const places = [...document.querySelectorAll("main div, main section")].filter((one) => !scrolls(one));
    const { scrollWidth } = document.documentElement;
    return Math.max(scrollWidth - innerWidth, ...places.map((one) => one.scrollWidth - one.clientWidth));
  })()`);
}

/** Saves a screenshot in the directory that RECOMMENDER_SCREENSHOTS names, if it is set. */
export async function picture(page: Page, name: string): Promise<void> {
  const directory = process.env.RECOMMENDER_SCREENSHOTS;
  if (!directory) return;
  await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}

/** Checks that a page fits three widths and is accessible. */
export async function check(look: Look, name: string): Promise<void> {
  const { page } = look;
  for (const width of [390, 1024, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    expect([name, width, await overhang(page)]).toEqual([name, width, 0]);
    expect([name, width, await broken(page)]).toEqual([name, width, []]);
    await picture(page, `${name}-${width}`);
  }
  expect([name, ...(await barriers(look))]).toEqual([name]);
}
