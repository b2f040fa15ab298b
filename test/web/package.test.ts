import { execFile, spawn } from "node:child_process";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { list } from "tar";
import { version } from "../../package.json";
import { type Service, seed, startService, withClients } from "../../service";
import { writeRelease } from "../../tools/release/write.js";
import { openContext, startBrowser } from "../browser";
import { recordShop } from "../console/shop";
import { registryEnv, temporaryDirectory } from "../tools/provide";

const run = promisify(execFile);
const repository = join(__dirname, "../..");
const example = join(repository, "examples/in-your-shop");

const own = "node_modules/pulumi-recommender-web";

let tarball: string;
/** Directory of a user, with the installed package. */
let shop: string;
beforeAll(async () => {
  const directory = join(await temporaryDirectory(), "release");
  const { files } = await writeRelease({ directory, only: ["web"] });
  const name = `pulumi-recommender-web-${version}.tgz`;
  expect(files.map(({ file }) => file)).toContain(name);
  tarball = join(directory, name);
  shop = await temporaryDirectory();
  await writeFile(join(shop, "package.json"), JSON.stringify({ name: "shop", private: true }));
  await npm("install", tarball);
});

const npm = (...args: string[]) =>
  run("npm", [...args, "--prefer-offline", "--no-audit", "--no-fund"], { cwd: shop, env: registryEnv() });
const node = async (...args: string[]) => (await run(process.execPath, args, { cwd: shop })).stdout.trim();

describe("the package for web pages", () => {
  test("is smaller than 1 MB, and installs nothing else", async () => {
    let bytes = 0;
    const names: string[] = [];
    await list({
      file: tarball,
      onReadEntry: ({ path, size = 0 }) => {
        bytes += size;
        names.push(path);
      },
    });
    expect(bytes).toBeLessThan(100_000);
    expect(names).toEqual(
      expect.arrayContaining(["package/README.md", "package/LICENSE", "package/index.d.ts"]),
    );
    const installed = await readdir(join(shop, "node_modules"));
    expect(installed.filter((name) => !name.startsWith("."))).toEqual(["pulumi-recommender-web"]);
    const manifest = JSON.parse(await readFile(join(shop, own, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ version, license: "Apache-2.0" });
    expect(manifest.dependencies ?? {}).toEqual({});
    const module = await readFile(join(shop, own, "index.js"), "utf8");
    expect(module.length).toBeLessThan(10_000);
    expect(module).not.toMatch(/\b(import|require)\b/);
  });

  test("can be imported and required, and has types for both", async () => {
    const names = '["Recommender","RecommenderError","forPages"]';
    const print = "console.log(JSON.stringify(Object.keys(web).sort()))";
    const imported = `import * as web from "pulumi-recommender-web"; ${print}`;
    expect(await node("--input-type=module", "--eval", imported)).toBe(names);
    expect(await node("--eval", `const web = require("pulumi-recommender-web"); ${print}`)).toBe(names);
    const bin = (name: string) => join(repository, "node_modules", name);
    await run(process.execPath, [bin("publint/src/cli.js"), "--strict", tarball]);
    await run(process.execPath, [bin("@arethetypeswrong/cli/dist/index.js"), tarball]);
    const program = `
      import { forPages, type Recommendations, Recommender } from "pulumi-recommender-web";
      const recommender = new Recommender({ url: "https://shop.example.com", key: "rp_x", ...forPages });
      export const found: Promise<Recommendations> = recommender.recommend(null, { events: [{ itemId: "a" }] });
      // @ts-expect-error: the name of an option is wrong.
      void recommender.recommend("ada", { fliter: "true" });
    `;
    for (const name of ["page.mts", "server.cts"]) await writeFile(join(shop, name), program);
    const compilerOptions = {
      ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, types: [] },
      ...{ target: "es2022", lib: ["es2022", "dom"], module: "nodenext" },
    };
    const config = { compilerOptions, files: ["page.mts", "server.cts"] };
    await writeFile(join(shop, "tsconfig.json"), JSON.stringify(config));
    const check = [bin("typescript/bin/tsc"), "--project", "."];
    const { stdout } = await run(process.execPath, check, { cwd: shop }).catch((error) => error);
    expect(stdout).toBe("");
  });
});

describe("the shop of the docs", () => {
  let service: Service;
  let projectId: string;
  let pages: Server;
  let origin: string;
  let texts: { html: string; module: string };
  beforeAll(async () => {
    service = await startService({ dataDir: join(await temporaryDirectory(), "data"), log: "none" });
    projectId = await seed(service, { ...recordShop(), qps: 1000 } as ReturnType<typeof recordShop>);
    pages = createServer(({ url }, response) => {
      if (url === "/recommender.js") response.setHeader("content-type", "text/javascript").end(texts.module);
      else response.setHeader("content-type", "text/html").end(texts.html);
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
    origin = `http://shop.test:${(pages.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await new Promise((resolve) => pages.close(resolve).closeAllConnections());
    await service.close();
  });

  const clients = <T>(work: Parameters<typeof withClients<T>>[1]) =>
    withClients({ dataDir: service.dataDir }, work);

  test("shows recommendations in Chromium, and other items if the service is gone; a hostile page gets none", async () => {
    const settings = {
      project: projectId,
      origins: [origin],
      attributes: ["title", "genre"],
      addressQps: 1000,
    };
    const { secret } = await clients((all) => all.addPublic("page", settings));
    const html = (await readFile(join(example, "item.html"), "utf8"))
      .replace("https://recommender.example.com", service.url)
      .replace("rp_…", secret);
    expect(html).toContain(secret);
    texts = {
      html,
      module: await readFile(join(shop, own, "index.js"), "utf8"),
    };
    const browser = await startBrowser(["--host-resolver-rules=MAP *.test 127.0.0.1"]);
    const context = await openContext(browser);
    const page = await context.newPage();
    const warnings: string[] = [];
    page.on("console", (message) => warnings.push(message.text()));
    const shown = async (at: string) => {
      await page.goto(at);
      await page.locator("#recommended[data-source]").waitFor({ state: "attached" });
      const section = page.locator("#recommended");
      return {
        source: await section.getAttribute("data-source"),
        titles: await section.getByRole("link").allTextContents(),
      };
    };
    // On a busy machine, the first answers take longer than a page waits.
    let good = await shown(origin);
    while (good.source !== "service") good = await shown(origin);
    const items = recordShop().items as { itemId: string; attributes: { title: string; genre: string } }[];
    const genres = good.titles.map(
      (title) => items.find(({ attributes }) => attributes.title === title)?.attributes.genre,
    );
    expect(genres).toHaveLength(4);
    for (const genre of genres) expect(["jazz", "folk"]).toContain(genre);
    expect(good.titles).not.toContain("Blue Harbour");

    warnings.length = 0;
    const hostile = await shown(origin.replace("shop.test", "evil.test"));
    expect(hostile).toEqual({ source: "none", titles: [] });
    while (!warnings.some((text) => text.includes("cannot be used by pages of http://evil.test")))
      await shown(origin.replace("shop.test", "evil.test"));
    // Nor can a page of the right origin write, or use a secret.
    await page.goto(origin);
    const write = (headers: Record<string, string>) =>
      page.evaluate(
        ([url, all]) =>
          fetch(`${url}/create-project`, { method: "POST", headers: all, body: "{}" }).then(
            ({ status }) => String(status),
            (error) => String(error),
          ),
        [service.url, headers] as const,
      );
    expect(await write({ apikey: secret, "content-type": "application/json" })).toMatch(/TypeError/);
    expect(await write({ apikey: service.key })).toMatch(/TypeError/);

    await clients((all) => all.revoke("page"));
    expect(await shown(origin)).toEqual({ source: "last", titles: good.titles });
    await browser.close();
  });

  test("shows recommendations with Express, and popular items while the service is gone", async () => {
    await npm("install", "express@5");
    await cp(join(example, "server.mjs"), join(shop, "server.mjs"));
    const { secret } = await clients((all) => all.add("shop", ["recommend"]));
    const env = {
      ...process.env,
      NODE_OPTIONS: "",
      RECOMMENDER_URL: service.url,
      RECOMMENDER_SECRET: secret,
      PORT: "0",
    };
    const server = spawn(process.execPath, ["server.mjs"], {
      cwd: shop,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [url] = await new Promise<string[]>((resolve) =>
      createInterface(server.stdout).once("line", (line) => resolve([line])),
    );
    const shown = async (query: string) => {
      const text = await (await fetch(`${url}/?${query}`)).text();
      const [, source] = /data-source="(\w+)"/.exec(text) ?? [];
      return { source, titles: [...text.matchAll(/<li>(.*?)<\/li>/g)].map(([, title]) => title) };
    };
    let ada = await shown("user=ada");
    while (ada.source !== "service") ada = await shown("user=ada");
    expect(ada.titles).toHaveLength(4);
    let visit = await shown("seen=lp-001");
    while (visit.source !== "service") visit = await shown("seen=lp-001");
    expect(visit.titles).toHaveLength(4);
    await clients((all) => all.revoke("shop"));
    expect(await shown("user=ada")).toEqual({ source: "last", titles: ada.titles });
    expect(await shown("user=somebody-else")).toMatchObject({ source: "popular", titles: { length: 4 } });
    server.kill();
  });
});
