import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { Running } from "../service/running";
import { deploy, openShop, trainModel } from "../service/shop";

const read = (file: string) => readFileSync(join(__dirname, "../../deploy/monitoring", file), "utf8");

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}
interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const dashboard = JSON.parse(read("dashboard.json")) as Dashboard;
const alerts = (parse(read("alerts.yaml")) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
];

/** Series of a scrape: name and labels. */
interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the series of a service that has trained, deployed and recommended, and runs a job. */
async function scrape(): Promise<Series[]> {
  const api = await Running.start({ faults: true });
  try {
    const shop = await openShop(api);
    await deploy(api, shop.projectId, await trainModel(api, shop), { qps: 100 });
    await api.call("recommendItemsToUser", { userId: "u1" });
    const headers = { apikey: api.service.key, "content-type": "application/json" };
    await api.raw("/faults", { method: "PUT", headers, body: '{"job_delay_ms":600000}' });
    const { projectId, algorithmId } = shop;
    await api.call("submitTrainingJob", { projectId, algorithmId, name: "waits" });
    const { text } = await api.raw("/metrics", { headers: { apikey: api.service.key } });
    // Prometheus itself adds `up`, and the labels of the target.
    return [...text.split("\n").flatMap(seriesIn), { name: "up", labels: {} }];
  } finally {
    await api.end();
  }
}

function seriesIn(line: string): Series[] {
  const [, name, list = ""] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
  if (name === undefined) return [];
  const labels = [...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]);
  return [{ name, labels: Object.fromEntries(labels) }];
}

/** Labels that Prometheus adds. */
const ofPrometheus = new Set(["job", "instance"]);

/** Returns what an expression names that no scraped series has. */
function unknownIn(expr: string, scraped: readonly Series[]): string[] {
  const selectors = [...expr.matchAll(/\b((?:recommender|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g)];
  if (selectors.length === 0) return [`${expr} names no metric`];
  return selectors.flatMap(([selector, name, list = ""]) => {
    const found = scraped.filter((series) => series.name === name);
    if (found.length === 0) return [`no metric ${name}`];
    return [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)]
      .map(([, label]) => label as string)
      .filter((label) => !ofPrometheus.has(label) && !found.some(({ labels }) => label in labels))
      .map((label) => `no label ${label} in ${selector}`);
  });
}

/** Returns the labels by which an expression groups. */
const grouping = (expr: string) =>
  [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */));

test("every metric and label in the dashboard and the alerts is in a scrape of the service", async () => {
  const scraped = await scrape();
  expect(unknownIn('sum(recommender_calls{job="x"})', scraped)).toEqual(["no metric recommender_calls"]);
  expect(
    unknownIn('recommender_jobs{kind="x"}', [{ name: "recommender_jobs", labels: { type: "x" } }]),
  ).toEqual(['no label kind in recommender_jobs{kind="x"}']);
  const labels = new Set(scraped.flatMap(({ labels }) => Object.keys(labels)));
  for (const [title, expr] of expressions) {
    expect([title, unknownIn(expr, scraped)]).toEqual([title, []]);
    expect([title, grouping(expr).filter((label) => !labels.has(label))]).toEqual([title, []]);
  }
});

test("the dashboard uses every metric of the service, and its panels do not overlap", () => {
  const text = JSON.stringify(dashboard);
  for (const name of [
    "recommender_call_duration_seconds",
    "recommender_job_duration_seconds",
    "recommender_jobs",
    "recommender_deployments",
    "recommender_user_vectors_total",
  ])
    expect(text).toContain(name);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const variables = dashboard.templating.list.map(({ name }) => name);
  for (const [, name] of text.matchAll(/\$\{?([a-z]\w*)/g)) expect(variables).toContain(name);
});

test("every alert has a severity and says what to check", () => {
  for (const { labels, annotations } of alerts) {
    expect(["critical", "warning"]).toContain(labels.severity);
    expect(annotations.summary).toMatch(/\w/);
    expect(annotations.description).toMatch(/\.$/);
  }
});
