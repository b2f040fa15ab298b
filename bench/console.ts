import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { folderAt, type Service, seed, startService } from "../service";
import { connect } from "../service/store/database";
import { startBrowser } from "../test/browser";
import { goal, report } from "./report/report";
import { startProcess } from "./service/api";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { users: Math.round(100_000 * scale), models: Math.round(1000 * scale) };
const [starts, rounds, callsPerRound] = [7, 8, 4000];
const dist = join(__dirname, "..", "dist/console");

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  try {
    const start = await startCost(folder);
    const service = await startService({ dataDir: join(folder, "shop"), log: "none" });
    const projectId = await seed(service, shop());
    const headers = await signIn(service);
    const calls = await callCost(service, headers);
    const datasetId = await fill(service, projectId);
    const views = await viewCost(service, projectId, datasetId, headers);
    const firstViewMs = await firstView(service);
    await service.close();
    conclude(start, calls, { ...views, firstViewMs });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts with and without the console by turns; the middle one of each counts. */
async function startCost(folder: string) {
  const took = { with: [] as number[], without: [] as number[] };
  // Others than this machine reach a service with a public address, and then the console is off.
  const off = ["--public-url", "https://shop.example"];
  for (let turn = 0; turn < starts; turn++) {
    for (const kind of ["with", "without"] as const) {
      const process = await startProcess("--data", join(folder, kind), ...(kind === "with" ? [] : off));
      took[kind].push(process.readyMs);
      await process.kill();
    }
  }
  return { with: middle(took.with), without: middle(took.without) };
}

/** Recommendations while a page follows the service, and while none does, by turns. */
async function callCost(service: Service, headers: Record<string, string>) {
  const agent = new Agent({ connections: 1 });
  const token = await tokenOf(service);
  const ask = async () => {
    const began = performance.now();
    const { body } = await request(`${service.url}/recommend-items-to-user`, {
      method: "POST",
      headers: { "content-type": "application/json", apikey: service.key, authorization: `Bearer ${token}` },
      body: JSON.stringify({ user_id: "u1", limit: 10 }),
      dispatcher: agent,
    });
    await body.text();
    return performance.now() - began;
  };
  const took = { open: [] as number[], closed: [] as number[] };
  for (let at = 0; at < callsPerRound; at++) await ask();
  for (let round = 0; round < rounds; round++) {
    for (const kind of ["open", "closed"] as const) {
      const leave = kind === "open" ? await follow(service, headers) : undefined;
      for (let at = 0; at < callsPerRound; at++) took[kind].push(await ask());
      await leave?.();
    }
  }
  await agent.close();
  return { open: middle(took.open), closed: middle(took.closed) };
}

/** Follows the service as an open page does, from its first line on, until it is left. */
async function follow(service: Service, headers: Record<string, string>): Promise<() => Promise<void>> {
  const left = new AbortController();
  const { body } = await request(`${service.url}/console/api/live`, { headers, signal: left.signal });
  const lines = body[Symbol.asyncIterator]();
  await lines.next();
  const rest = (async () => {
    while (!(await lines.next()).done);
    throw new Error("the stream has ended");
  })().catch((error) => {
    if (!left.signal.aborted) throw error;
  });
  return () => {
    left.abort();
    return rest;
  };
}

/** Many users through the API, and as many models as years of trainings leave. */
async function fill(service: Service, projectId: string): Promise<string> {
  const db = connect(folderAt(service.dataDir).database);
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
    // Records that are refused are no error of the call.
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

/** The middle time of what the screens read. */
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
    times[name] = middle(took);
  }
  return times;
}

/** From the link to the filled overview in a browser that knows nothing of the page yet; the middle one counts. */
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
  return middle(took);
}

/** The tarball that would be published, and the same without what is there for the console. */
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
  calls: { open: number; closed: number },
  { firstViewMs, ...views }: Record<string, number> & { firstViewMs: number },
): void {
  const files = readdirSync(dist).filter((name) => name.endsWith(".js.gz"));
  const scripts = files.reduce((sum, name) => sum + statSync(join(dist, name)).size, 0);
  const packed = packedBytes();
  const growth = packed.whole - packed.without;
  const ratios = { start: start.with / start.without, callsWithThePageOpen: calls.open / calls.closed };
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
      recommendationMs: calls,
      viewMs: views,
      scriptBytes: scripts,
      firstViewMs,
      packedBytes: packed,
    },
    shape,
  });
}

function post({ url }: Service, path: string, headers: object, body: object) {
  const json = { "content-type": "application/json" };
  return request(url + path, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
  });
}

async function codeOf(service: Service): Promise<string> {
  const { body } = await post(service, "/console/code", { apikey: service.key }, {});
  return ((await body.json()) as { code: string }).code;
}

async function signIn(service: Service): Promise<Record<string, string>> {
  const opened = await post(
    service,
    "/console/session",
    { origin: service.url },
    { code: await codeOf(service) },
  );
  const [cookie = ""] = String(opened.headers["set-cookie"]).split(";");
  return { cookie, "x-console-token": ((await opened.body.json()) as { token: string }).token };
}

async function tokenOf({ url, key }: Service, scope = "/recommend-items-to-user"): Promise<string> {
  const client = { client_id: "bench", client_secret: key };
  const { body } = await request(`${url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: "client_credentials", ...client, scope }).toString(),
  });
  return ((await body.json()) as { access_token: string }).access_token;
}

/** A shop of 200 users and 300 items. */
function shop() {
  return {
    name: "bench",
    targetEventType: "purchase",
    events: Array.from({ length: 4000 }, (_, at) => ({
      userId: `u${at % 200}`,
      itemId: `i${(at * 7 + (at % 13)) % 300}`,
      ts: 1_700_000_000_000 + at * 1000,
      eventType: "purchase",
    })),
    qps: 1_000_000,
  };
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
