import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { dataDirectoryAt, type Service, seed, startService } from "../service";
import { connect } from "../service/store/database";
import { startBrowser } from "../test/browser";
import { median, recommendationsWithThePageOpen } from "./console/calls";
import { codeOf, shop, signIn, tokenOf } from "./console/session";
import { goal, report } from "./report/report";
import { startProcess } from "./service/api";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { users: Math.round(100_000 * scale), models: Math.round(1000 * scale) };
const starts = 15;
const dist = join(__dirname, "..", "dist/console");

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  try {
    const start = await startCost(directory);
    const calls = await recommendationsWithThePageOpen(directory);
    const service = await startService({ dataDir: join(directory, "shop"), log: "none" });
    const projectId = await seed(service, shop());
    const headers = await signIn(service);
    const datasetId = await fill(service, projectId);
    const views = await viewCost(service, projectId, datasetId, headers);
    const firstViewMs = await firstView(service);
    await service.close();
    conclude(start, calls, { ...views, firstViewMs });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Alternates starts with and without the console, and returns the fastest of each. Other work can only slow a start down. */
async function startCost(directory: string) {
  const took = { with: [] as number[], without: [] as number[] };
  // A service with a public address is reachable from other machines, so its console is off.
  const off = ["--public-url", "https://shop.example"];
  for (let turn = 0; turn < starts; turn++) {
    const kinds = ["with", "without"] as const;
    for (const kind of turn % 2 === 0 ? kinds : kinds.toReversed()) {
      const process = await startProcess("--data", join(directory, kind), ...(kind === "with" ? [] : off));
      took[kind].push(process.readyMs);
      await process.kill();
    }
  }
  return { with: Math.min(...took.with), without: Math.min(...took.without) };
}

/** Creates many users through the API, and as many models as years of trainings would create. */
async function fill(service: Service, projectId: string): Promise<string> {
  const db = connect(dataDirectoryAt(service.dataDir).database);
  const project = await db
    .selectFrom("projects")
    .selectAll()
    .where("id", "=", projectId)
    .executeTakeFirstOrThrow();
  const token = await tokenOf(service, "/upsert-dataset-users");
  for (let from = 0; from < shape.users; from += 1000) {
    const users = Array.from({ length: 1000 }, (_, at) => ({
      user_id: `user-${from + at}`,
      attributes: { country: "FR", age: at % 90 },
    }));
    const { statusCode, body } = await request(`${service.url}/upsert-dataset-users`, {
      method: "POST",
      headers: { "content-type": "application/json", apikey: service.key, authorization: `Bearer ${token}` },
      body: JSON.stringify({ user_dataset_id: project.user_dataset_id, users }),
    });
    const text = await body.text();
    // A call succeeds even if the service rejects some of its records.
    if (statusCode !== 200 || JSON.parse(text).failures.length > 0) throw new Error(text.slice(0, 500));
  }
  const { number, ...model } = await db.selectFrom("models").selectAll().executeTakeFirstOrThrow();
  for (let at = 1; at < shape.models; at++)
    await db
      .insertInto("models")
      .values({ ...model, number: number + at, id: `${model.id}-${at}`, name: `weekly ${at}` })
      .execute();
  await db.destroy();
  return project.user_dataset_id;
}

/** Returns the median time of the requests of each screen. */
async function viewCost(
  service: Service,
  projectId: string,
  datasetId: string,
  headers: Record<string, string>,
) {
  const times: Record<string, number> = {};
  const paths = {
    overview: "overview",
    models: `models?project=${projectId}`,
    search: `models?project=${projectId}&search=weekly%20900`,
    dataset: `dataset?id=${datasetId}`,
    records: `records?id=${datasetId}&page=user-50000`,
    recordSearch: `records?id=${datasetId}&search=user-99998`,
    suggestions: `suggest?project=${projectId}&kind=user&text=user-9`,
    try: "",
  };
  for (const [name, path] of Object.entries(paths)) {
    const took: number[] = [];
    for (let turn = 0; turn < 9; turn++) {
      const began = performance.now();
      const answer =
        name === "try"
          ? await request(`${service.url}/console/api/try`, {
              method: "POST",
              headers: { ...headers, origin: service.url, "content-type": "application/json" },
              body: JSON.stringify({ projectId, userId: "u1" }),
            })
          : await request(`${service.url}/console/api/${path}`, { headers });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(text);
      took.push(performance.now() - began);
    }
    times[name] = median(took);
  }
  return times;
}

/** Returns the median time from opening a link to the loaded overview, in a browser with an empty cache. */
async function firstView(service: Service): Promise<number> {
  const browser = await startBrowser();
  const took: number[] = [];
  for (let turn = 0; turn < starts; turn++) {
    const context = await browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    const link = `${service.url}/#code=${await codeOf(service)}`;
    const began = performance.now();
    await page.goto(link);
    await page.locator(".strip").first().waitFor();
    took.push(performance.now() - began);
    await context.close();
  }
  await browser.close();
  return median(took);
}

/** Returns the size of the npm package with and without the console. */
function packedBytes(): { whole: number; without: number } {
  const root = join(__dirname, "..");
  const said = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(said) as [{ files: { path: string }[] }];
  const packed = (paths: readonly string[]) =>
    execFileSync("tar", ["-cz", "--files-from=-"], {
      cwd: root,
      input: paths.join("\n"),
      maxBuffer: 1e9,
    }).length;
  const all = files.map(({ path }) => path);
  return {
    whole: packed(all),
    without: packed(all.filter((path) => !/^(dist\/(service\/)?console|docs\/console)/.test(path))),
  };
}

function conclude(
  start: { with: number; without: number },
  callsWithThePageOpen: number,
  { firstViewMs, ...views }: Record<string, number> & { firstViewMs: number },
): void {
  const files = readdirSync(dist).filter((name) => name.endsWith(".js.gz"));
  const scripts = files.reduce((sum, name) => sum + statSync(join(dist, name)).size, 0);
  const packed = packedBytes();
  const growth = packed.whole - packed.without;
  const ratios = { start: start.with / start.without, callsWithThePageOpen };
  const slowest = Math.max(...Object.values(views));
  report("console", {
    ratios,
    goals: [
      goal("Console: start of the service, with it / without", "≤", 1.1, ratios.start),
      goal("Console: a recommendation, with the page open / closed", "≤", 1.05, ratios.callsWithThePageOpen),
      goal("Console: kB of script, compressed, of all screens", "≤", 60, scripts / 1000),
      goal("Console: kB that the packed package grows by", "<", 1000, growth / 1000),
      goal("Console: ms from the link to the filled first view, in Chromium", "<", 1000, firstViewMs),
      goal("Console: ms of the slowest view, 100,000 users and 1,000 models", "<", 1000, slowest),
    ],
    absolute: {
      startMs: start,
      viewMs: views,
      scriptBytes: scripts,
      firstViewMs,
      packedBytes: packed,
    },
    shape,
  });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
