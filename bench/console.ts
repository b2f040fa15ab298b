import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { folderAt, type Service, seed, startService } from "../service";
import { connect } from "../service/store/database";
import { goal, report } from "./report/report";
import { startProcess } from "./service/api";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { users: Math.round(100_000 * scale), models: Math.round(1000 * scale) };
const [starts, rounds, callsPerRound] = [7, 20, 200];
const dist = join(__dirname, "..", "dist");

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  try {
    const start = await startCost(folder);
    const service = await startService({ dataDir: join(folder, "shop"), log: "none" });
    const projectId = await seed(service, shop());
    const headers = await signIn(service);
    const calls = await callCost(service, headers);
    await fill(service, projectId);
    const views = await viewCost(service, projectId, headers);
    await service.close();
    conclude(start, calls, views);
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
      const left = new AbortController();
      const following = kind === "open" ? follow(service, headers, left.signal) : undefined;
      for (let at = 0; at < callsPerRound; at++) took[kind].push(await ask());
      left.abort();
      await following;
    }
  }
  await agent.close();
  return { open: middle(took.open), closed: middle(took.closed) };
}

async function follow(service: Service, headers: Record<string, string>, signal: AbortSignal): Promise<void> {
  try {
    const { body } = await request(`${service.url}/console/api/live`, { headers, signal });
    for await (const _ of body);
  } catch {
    if (!signal.aborted) throw new Error("the stream has ended");
  }
}

/** Many users through the API, and as many models as years of trainings leave. */
async function fill(service: Service, projectId: string): Promise<void> {
  const db = connect(folderAt(service.dataDir).database);
  const project = await db
    .selectFrom("projects")
    .selectAll()
    .where("id", "=", projectId)
    .executeTakeFirstOrThrow();
  const token = await tokenOf(service, "/upsert-dataset-users");
  for (let from = 0; from < shape.users; from += 1000) {
    const users = Array.from({ length: 1000 }, (_, at) => ({ user_id: `user-${from + at}`, country: "FR" }));
    const { statusCode, body } = await request(`${service.url}/upsert-dataset-users`, {
      method: "POST",
      headers: { "content-type": "application/json", apikey: service.key, authorization: `Bearer ${token}` },
      body: JSON.stringify({ user_dataset_id: project.user_dataset_id, users }),
    });
    if (statusCode !== 200) throw new Error(await body.text());
    await body.dump();
  }
  const { number, ...model } = await db.selectFrom("models").selectAll().executeTakeFirstOrThrow();
  for (let at = 1; at < shape.models; at++)
    await db
      .insertInto("models")
      .values({ ...model, number: number + at, id: `${model.id}-${at}`, name: `weekly ${at}` })
      .execute();
  await db.destroy();
}

/** The middle time of what the screens read. */
async function viewCost(service: Service, projectId: string, headers: Record<string, string>) {
  const times: Record<string, number> = {};
  const paths = {
    overview: "overview",
    models: `models?project=${projectId}`,
    search: `models?project=${projectId}&search=weekly%20900`,
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

function conclude(
  start: { with: number; without: number },
  calls: { open: number; closed: number },
  views: Record<string, number>,
): void {
  const page = filesIn(join(dist, "console"));
  const scripts = bytesOf(page.filter((file) => file.endsWith(".js.gz")));
  const packed = bytesOf([...page, ...filesIn(join(dist, "service/console"))]);
  const ratios = { start: start.with / start.without, callsWithThePageOpen: calls.open / calls.closed };
  const slowest = Math.max(...Object.values(views));
  report("console", {
    ratios,
    goals: [
      goal("Console: start of the service, with it / without", "≤", 1.1, ratios.start),
      goal("Console: a recommendation, with the page open / closed", "≤", 1.05, ratios.callsWithThePageOpen),
      goal("Console: kB of script, compressed, of all screens", "≤", 60, scripts / 1000),
      goal("Console: kB in the package, before it is packed", "<", 1000, packed / 1000),
      goal("Console: ms of the slowest view, 100,000 users and 1,000 models", "<", 1000, slowest),
    ],
    absolute: {
      startMs: start,
      recommendationMs: calls,
      viewMs: views,
      scriptBytes: scripts,
      packageBytes: packed,
    },
    shape,
  });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => statSync(file).isFile() && !file.endsWith(".map"));
}

function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

async function signIn({ url, key }: Service): Promise<Record<string, string>> {
  const json = { "content-type": "application/json" };
  const post = (path: string, headers: object, body: object) =>
    request(url + path, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
  const { code } = (await (await post("/console/code", { apikey: key }, {})).body.json()) as { code: string };
  const opened = await post("/console/session", { origin: url }, { code });
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
