import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { renderHtml } from "../../../cli/drift/render/html";
import { openContext, startBrowser } from "../../browser";
import { cleanStack, reportOf, stackReport } from "./sample";

describe("the page of a report, in Chromium", () => {
  let browser: Browser;
  let directory: string;
  let address: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "recommender-page-"));
    const file = join(directory, "drift.html");
    writeFileSync(file, renderHtml(reportOf(stackReport(), { ...cleanStack(), stack: "prod" })));
    address = pathToFileURL(file).href;
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const open = async (colorScheme: "light" | "dark") => {
    const context = await openContext(browser, { colorScheme, viewport: { width: 1000, height: 900 } });
    const page = await context.newPage();
    const said: string[] = [];
    const asked: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(error.message));
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(address);
    return { page, said, asked };
  };

  test.each(["light", "dark"] as const)("loads no other files and logs no errors, %s", async (scheme) => {
    const { page, said, asked } = await open(scheme);
    expect(said).toEqual([]);
    expect(asked.filter((url) => !url.startsWith("data:"))).toEqual([address]);
    expect(await page.title()).toBe("Drift and pending changes: dev, prod");
    if (process.env.RECOMMENDER_SCREENSHOTS) {
      await page.screenshot({
        path: join(process.env.RECOMMENDER_SCREENSHOTS, `drift-${scheme}.png`),
        fullPage: true,
      });
    }
    await page.close();
  });

  test("has sufficient contrast in light and dark", async () => {
    for (const scheme of ["light", "dark"] as const) {
      const { page } = await open(scheme);
      expect(await page.evaluate(worstContrast)).toBeGreaterThanOrEqual(4.5);
      await page.close();
    }
  });

  test("can be used with the keyboard only", async () => {
    const { page } = await open("light");
    const folded = page.locator("details", { hasText: "EventDataset events" }).first();
    expect(await folded.getAttribute("open")).toBeNull();
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press("Tab");
      if ((await focused()).startsWith("EventDataset events")) break;
    }
    await page.keyboard.press("Enter");
    expect(await folded.getAttribute("open")).toBe("");
    expect(await page.getByText("attributeSchema.place").isVisible()).toBe(true);
    await page.keyboard.press("Space");
    expect(await folded.getAttribute("open")).toBeNull();
    await page.close();
  });

  test("does not scroll sideways on a narrow screen", async () => {
    const { page } = await open("light");
    await page.setViewportSize({ width: 360, height: 700 });
    const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(wider).toBeLessThanOrEqual(0);
    await page.close();
  });
});

/** Runs in the page. Returns the lowest contrast of text and background, by the WCAG formula. */
const worstContrast = `(() => {
  const parts = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = parts(colour)
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return parts(colour)[3] === 0 ? behind(element.parentElement) : colour;
  };
  for (const details of document.querySelectorAll("details")) details.open = true;
  const texts = [...document.querySelectorAll("main *")].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()),
  );
  const contrasts = texts.map((element) => {
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
  return Math.min(...contrasts);
})()`;
