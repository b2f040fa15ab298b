import { existsSync } from "node:fs";
import { join } from "node:path";
import { servingIn } from "../faults/account";
import type { FaultProxy } from "../faults/proxy";
import { type Holder, Watch } from "../faults/watch";
import type { Ended, KillingGround, StateEntry } from "./killing";

/** Parameters of the program. */
export interface Declaration {
  readonly trigger: number;
  readonly qps: number;
  readonly trained: boolean;
  readonly deployed: boolean;
  /** Whether there is a second dataset of events. */
  readonly second: boolean;
  /** Id of a dataset that a further resource adopts. */
  readonly twin: string | null;
  /** Suffix of the names of the model and the deployment. */
  readonly suffix: string;
  readonly aliased: boolean;
  readonly isProtected: boolean;
  readonly ignoresModel: boolean;
  readonly deleteFirst: boolean;
  /** Whether the project has a parent. */
  readonly parented: boolean;
}

/** First program of a walk. */
export const firstDeclaration: Declaration = {
  ...{ trigger: 0, qps: 100, trained: true, deployed: true, second: true, twin: null },
  ...{ suffix: "", aliased: false, isProtected: false, ignoresModel: false, deleteFirst: false },
  parented: false,
};

/** Program that reads its parameters from the environment. */
export const walkedProgram = `
const pulumi = require("@pulumi/pulumi");
const recommender = require("pulumi-recommender");
const d = JSON.parse(process.env.DECLARATION);
const events = new recommender.EventDataset("events", { numShards: 1 });
if (d.second) new recommender.EventDataset("more", { numShards: 1 }, { protect: d.isProtected });
if (d.twin) new recommender.EventDataset("twin", { name: "more", numShards: 1, existingId: d.twin });
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const loaded = new recommender.EventRecords("events", {
  eventDatasetId: events.id, numShards: 1,
  source: Array.from({ length: 30 }, (_, at) => ({
    eventId: "e" + at, userId: "u" + (at % 6), itemId: "i" + ((at * 5) % 7), ts: 1700000000000 + at, eventType: "buy",
  })),
});
const group = new pulumi.ComponentResource("test:group", "group");
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "buy",
}, d.parented ? { parent: group, aliases: [{ parent: pulumi.rootStackResource }] } : { aliases: [{ parent: group }] });
const projectId = project.id;
const algorithm = new recommender.Algorithm("g1", {
  projectId, algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 0.1 },
});
const aliases = (name) => (d.aliased ? [{ name: d.suffix ? name : name + "-renamed" }] : []);
const model = d.trained && new recommender.Model("weekly" + d.suffix, {
  name: "weekly", projectId, algorithmId: algorithm.id, triggers: [d.trigger],
}, { dependsOn: loaded, deleteBeforeReplace: d.deleteFirst, aliases: aliases("weekly") });
if (model && d.deployed) new recommender.Deployment("live" + d.suffix, {
  name: "live", projectId, generatorModelId: model.modelId, qps: d.qps, check: { userIds: ["u1"], minResults: 0 },
}, { aliases: aliases("live"), ...(d.ignoresModel && { ignoreChanges: ["generatorModelId"] }) });
`;

/** Stack that checks the objects in the service after every command. */
export class WalkedStack {
  readonly watch: Watch;

  constructor(
    readonly name: string,
    private readonly ground: KillingGround,
    private readonly proxy: FaultProxy,
    dataDir: string,
  ) {
    this.watch = new Watch(
      () => this.held(),
      proxy,
      (id) => servingIn(dataDir).some(({ projectId }) => projectId === id),
    );
  }

  /** Runs a command of the engine, and checks its messages and deletions against the state. */
  async run(args: readonly string[], declaration?: Declaration): Promise<Ended> {
    const env = {
      RECOMMENDER_BASE_URL: this.proxy.url,
      ...(declaration && { DECLARATION: JSON.stringify(declaration) }),
    };
    const ended = await this.ground.run([...args], env);
    // Unexpected errors of the provider look like this.
    expect(ended.output).not.toMatch(/unhandled rejection|panic:|TypeError|at Object\.|is not a function/i);
    this.watch.hear(ended.output);
    this.watch.look();
    return ended;
  }

  /** State entries of the stack and of the stack to which entries can be moved. */
  rows(): StateEntry[] {
    return [this.name, `${this.name}-other`].flatMap((stack) =>
      existsSync(this.ground.places(stack).stateFile) ? this.ground.state(stack).resources : [],
    );
  }

  /** Objects of the entries that must not be deleted. */
  held(): Holder[] {
    return this.rows().flatMap(({ urn, type, id, delete: isLeaving }) => {
      const kind = /recommender:(\w+)$/.exec(type)?.[1];
      return kind && id && !isLeaving ? [{ kind, id, name: urn.split("::").at(-1) as string }] : [];
    });
  }

  /** Returns the URN of a resource by its kind and the prefix of its name. */
  urns(kind: string, name = ""): string[] {
    return this.rows()
      .filter(({ type, urn }) => type.endsWith(`recommender:${kind}`) && urn.includes(`::${name}`))
      .map(({ urn }) => urn);
  }

  /** Returns the path of a new file. */
  file(name: string): string {
    return join(this.ground.directory, name);
  }
}
