import { join } from "node:path";
import Database from "libsql";
import type { FaultProxy } from "../faults/proxy";
import type { Binding, Ended, Kill, KillingGround } from "./killing";
import { type Width, watchWindow } from "./window";

/** Program with every resource type. Its second version retrains, redeploys, queries again, renames and adds an event. */
export const killedProgram = `
const pulumi = require("@pulumi/pulumi");
const recommender = require("pulumi-recommender");
const version = Number(process.env.VERSION);
const named = (name) => pulumi.getStack() + "-" + name;
const users = new recommender.UserDataset("users", { name: named("users"), numShards: 1 });
const items = new recommender.ItemDataset("items", { name: named("items"), numShards: 1 });
const events = new recommender.EventDataset("events", { name: named("events-v" + version), numShards: 1 });
const ids = (count, prefix) => Array.from({ length: count }, (_, at) => prefix + at);
const loaded = [
  new recommender.UserRecords("users", {
    userDatasetId: users.id, source: ids(6, "u").map((userId) => ({ userId, attributes: { n: 1 } })), numShards: 1,
  }),
  new recommender.ItemRecords("items", {
    itemDatasetId: items.id, source: ids(6, "i").map((itemId) => ({ itemId, attributes: { genre: "jazz" } })), numShards: 1,
  }),
  new recommender.EventRecords("events", {
    eventDatasetId: events.id, numShards: 1,
    source: ids(20 + version, "e").map((eventId, at) => ({
      eventId, userId: "u" + (at % 6), itemId: "i" + ((at * 5) % 6), ts: 1700000000000 + at, eventType: "buy",
    })),
  }),
];
const project = new recommender.Project("shop", {
  name: named("shop"), userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id,
  targetEventType: "buy",
});
const projectId = project.id;
const algorithm = new recommender.Algorithm("g1", {
  name: named("g1"), projectId,
  algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 0.1 },
});
const model = new recommender.Model("model", {
  name: named("model"), projectId, algorithmId: algorithm.id, triggers: loaded.map((records) => records.contentHash),
});
const modelId = model.modelId;
new recommender.Deployment("live", {
  name: named("live"), projectId, generatorModelId: modelId, qps: 100, check: { userIds: ["u1"], minResults: 0 },
});
new recommender.UserQuery("query", {
  name: named("query"), projectId, modelId, queryType: "user_distribution",
  queries: [{ attribute: "genre", value: "jazz", bins: 2 }],
});
new recommender.UserClustering("groups", {
  name: named("groups"), projectId, modelId, clusterType: "user", parameters: { minUserNum: 1 },
});
`;

/** Stages of a stack in order: two versions of its program, and the destroy. */
export const stages = ["version 1", "version 2", "destroyed"] as const;

/** Stage of a stack. */
export type Stage = (typeof stages)[number];

/** Number of changing calls of a run from the previous stage to this one. */
const changingCalls: Record<Stage, number> = { "version 1": 13, "version 2": 9, destroyed: 3 };

/** Objects of a stack in the service. */
export interface Held {
  readonly datasets: Record<string, number>;
  readonly projects: number;
  readonly algorithms: number;
  readonly jobs: Record<string, number>;
  readonly models: number;
  readonly deployments: number;
  readonly events: number;
}

/** Stack that is killed and recovered, with its objects from the tables of the service. */
export class KilledStack {
  /** Pending operations of the engine that runs found in the state. */
  pendingSeen = 0;
  /** Number of times that a killed engine left broken files. */
  mended = 0;
  /** Measurements of runs that were not killed. */
  readonly widths: Width[] = [];
  /** Binding of the last run, and whether that run was killed. */
  binding: Binding | undefined;
  wasStruck = false;

  constructor(
    readonly name: string,
    private readonly ground: KillingGround,
    private readonly proxy: FaultProxy,
    private readonly dataDir: string,
    private readonly nextBinding: () => Binding,
  ) {}

  async init(): Promise<void> {
    this.proxy.clear();
    await this.ground.init(this.name);
  }

  /** Brings the stack to a stage. First unlocks a stack that a killed engine left locked. */
  async bring(stage: Stage, kill?: Kill): Promise<Ended> {
    // A destroy uses the bindings in the state.
    if (stage !== "destroyed") this.binding = this.nextBinding();
    if (this.ground.mend(this.name)) this.mended++;
    if (this.ground.isLocked(this.name)) await this.#engine(["cancel", "--yes"], stage);
    this.pendingSeen += this.ground.state(this.name).pending.length;
    const { journal, stateFile } = this.ground.places(this.name);
    const end = kill ? undefined : watchWindow(this.proxy, journal, stateFile, this.widths);
    const command = stage === "destroyed" ? "destroy" : "up";
    const ended = await this.#engine([command, "--yes", "--skip-preview"], stage, kill);
    end?.();
    this.wasStruck = ended.struck;
    return ended;
  }

  /** Whether a further run would change anything. */
  async preview(stage: Stage): Promise<Ended> {
    return this.#engine(["preview", "--expect-no-changes"], stage);
  }

  /** Returns the number of remaining calls of a run to the stage. */
  remaining(stage: Stage): number {
    const made = this.proxy.taken.filter(
      ({ call, status }) => !/^GET|token|recommend/.test(call) && status < 300,
    );
    const all = stages.slice(0, stages.indexOf(stage) + 1).map((each) => changingCalls[each]);
    const left = all.reduce((sum, count) => sum + count, 0) - made.length;
    return Math.min(Math.max(1, left), changingCalls[stage]);
  }

  /** Returns the resources in the state. */
  resources(): string[] {
    return this.ground.state(this.name).resources.map(({ urn }) => urn);
  }

  /** Reads the objects of the stack from the database of the service. */
  held(): Held {
    const database = new Database(join(this.dataDir, "data.db"), { readonly: true });
    const rows = (sql: string) => database.prepare(sql).all() as { key: string; n: number }[];
    const grouped = (sql: string) => Object.fromEntries(rows(sql).map(({ key, n }) => [key, n]));
    const count = (sql: string) => rows(sql)[0]?.n ?? 0;
    const named = `name like '${this.name}-%'`;
    // A deleted dataset stays in the table until its events are deleted.
    const datasets = `from datasets where ${named} and kind <> 'deleted'`;
    const project = `select id from projects where ${named}`;
    try {
      return {
        datasets: grouped(`select kind key, count(*) n ${datasets} group by kind`),
        projects: count(`select count(*) n from projects where ${named}`),
        algorithms: count(`select count(*) n from algorithms where ${named}`),
        jobs: grouped(
          `select job_type key, count(*) n from jobs where project_id in (${project}) group by 1`,
        ),
        models: count(`select count(*) n from models where project_id in (${project})`),
        deployments: count(`select count(*) n from deployments where project_id in (${project})`),
        events: count(`select count(*) n from events where dataset in (select number ${datasets})`),
      };
    } finally {
      database.close();
    }
  }

  #engine(args: string[], stage: Stage, kill?: Kill): Promise<Ended> {
    // A destroy does not run the program.
    const version = stage === "destroyed" ? {} : { VERSION: stage.replace("version ", "") };
    const binding = this.binding && { RECOMMENDER_BINDING: this.binding };
    const env = { ...version, ...binding, RECOMMENDER_BASE_URL: this.proxy.url };
    return this.ground.run([...args, "--stack", this.name], env, this.proxy, kill);
  }
}

/** Returns the expected objects of a stack at a stage. */
export function heldAt(stage: Stage): Held {
  // The API can delete neither these objects nor jobs.
  const forEver = { projects: 1, algorithms: 1 };
  const jobs = (each: number) => ({ TRAINING: each, DEPLOYMENT: each, QUERYING: each, CLUSTERING: each });
  if (stage === "destroyed") {
    const datasets = { user: 1, item: 1 };
    return { ...forEver, datasets, jobs: jobs(2), models: 0, deployments: 0, events: 0 };
  }
  const version = stages.indexOf(stage) + 1;
  const datasets = { user: 1, item: 1, event: 1 };
  return { ...forEver, datasets, jobs: jobs(version), models: 1, deployments: 1, events: 20 + version };
}
