import type { Declared } from "./declared";
import type { Kind, Lookup } from "./rows";

/** Parameters without a hyperparameter search. */
export const fixed = {
  epochs: 1,
  regularization: 0.1,
  alpha: 0.3,
  weighting: "log",
  damping: 0,
  neighbours: 0,
};

/** Parts of the program whose resources may be renamed. */
export const places = ["users", "events", "shop", "g1", "weekly", "live"] as const;

/** Part of the program whose resources may be renamed. */
export type Place = (typeof places)[number];

/** Content of the program. */
export interface Program {
  readonly shards: number;
  readonly eventsName: string;
  readonly usersName: string;
  readonly second: boolean;
  readonly parameters: number;
  readonly trigger: number;
  readonly modelName: string;
  readonly trained: boolean;
  readonly deployed: boolean;
  readonly qps: number;
  /** Whether the model is also the ranker. */
  readonly ranked: boolean;
  /** Parts whose resources have their second name. */
  readonly renamed: readonly Place[];
  /** Whether renamed resources have an alias. */
  readonly aliased: boolean;
  /** Id of an event dataset that a further resource adopts. */
  readonly twin?: string | undefined;
  /** Kinds with the option `deleteBeforeReplace`. */
  readonly deleteFirst?: readonly Kind[];
  /** Whether the deployment ignores changes of its models. */
  readonly ignoresModel?: boolean;
}

/** First program of every sequence. */
export const first: Program = {
  ...{ shards: 1, eventsName: "events", usersName: "users", second: false, parameters: 4 },
  ...{ trigger: 0, modelName: "weekly", trained: true, deployed: true, qps: 500, ranked: false },
  ...{ renamed: [], aliased: false },
};

/** Resources of a part. A call creates the first one. */
export const kindsIn = {
  ...{ users: ["UserDataset"], events: ["EventDataset"], shop: ["Project"], g1: ["Algorithm"] },
  ...{ weekly: ["TrainingJob", "Model"], live: ["DeploymentJob", "Deployment"] },
} as const satisfies Record<Place, readonly Kind[]>;

/** Returns the name of the resources of a part. */
export function nameOf({ renamed }: Pick<Program, "renamed">, place: Place): string {
  return renamed.includes(place) ? `${place}-renamed` : place;
}

/** Returns the name that they do not have. */
export function otherNameOf(program: Pick<Program, "renamed">, place: Place): string {
  return nameOf(program, place) === place ? `${place}-renamed` : place;
}

/** Returns the resources of a program. `existing` are the ids that the user has set as `existingId`. */
export function declared(program: Program, existing: Readonly<Record<string, string>>): Declared[] {
  const { shards, eventsName, usersName, second, parameters, trained, deployed } = program;
  const told = (title: string) => (existing[title] ? { existingId: existing[title] } : {});
  const dataset = (kind: Kind, named: Naming, numShards: number, label: string): Declared => ({
    ...{ kind, ...named },
    args: () => ({ name: label, numShards, ...told(`${kind} ${named.name}`) }),
  });
  const [users, events, shop, g1] = (["users", "events", "shop", "g1"] as const).map((place) =>
    naming(program, place),
  ) as [Naming, Naming, Naming, Naming];
  const all: Declared[] = [
    dataset("UserDataset", users, 1, usersName),
    dataset("ItemDataset", { name: "items" }, 1, "items"),
    dataset("EventDataset", events, shards, eventsName),
    {
      ...{ kind: "Project", ...shop },
      args: (of) => ({
        ...{ name: "shop", projectType: "RECOMMEND_ITEMS_TO_USER", targetEventType: "purchase" },
        userDatasetId: of("UserDataset", users.name).id,
        itemDatasetId: of("ItemDataset", "items").id,
        eventDatasetId: of("EventDataset", events.name).id,
        ...told(`Project ${shop.name}`),
      }),
    },
    {
      ...{ kind: "Algorithm", ...g1 },
      args: (of) => ({
        projectId: of("Project", shop.name).id,
        ...{ name: "g1", algorithmType: "G1" },
        algorithmParameters: { dimensions: parameters, ...fixed },
        ...told(`Algorithm ${g1.name}`),
      }),
    },
  ];
  if (second) all.push(dataset("EventDataset", { name: "more" }, 1, eventsName));
  if (program.twin) all.push(twin(program.twin, eventsName));
  if (trained) all.push(...training(program));
  if (trained && deployed) all.push(...deployment(program));
  return all.map((resource) => ({
    ...resource,
    ...(program.deleteFirst?.includes(resource.kind) && { deleteFirst: true }),
  }));
}

/** Declares a further resource for a dataset of another resource. */
function twin(existingId: string, name: string): Declared {
  return { kind: "EventDataset", name: "twin", args: () => ({ name, numShards: 1, existingId }) };
}

/** Returns the expected live deployment, or undefined. */
export function serving(program: Program, of: Lookup) {
  const { trained, deployed, ranked, qps } = program;
  if (!trained || !deployed) return undefined;
  const modelId = of("Model", nameOf(program, "weekly")).id;
  return { generator: modelId, ranker: ranked ? modelId : null, qps };
}

type Naming = Pick<Declared, "name" | "aliases">;

function naming(program: Program, place: Place): Naming {
  const aliases = [otherNameOf(program, place)];
  return { name: nameOf(program, place), ...(program.aliased && { aliases }) };
}

function training(program: Program): Declared[] {
  const { modelName, trigger } = program;
  const weekly = naming(program, "weekly");
  const ids = (of: Lookup) => ({
    projectId: of("Project", nameOf(program, "shop")).id,
    algorithmId: of("Algorithm", nameOf(program, "g1")).id,
  });
  return [
    {
      ...{ kind: "TrainingJob", ...weekly },
      args: (of) => ({ ...ids(of), name: modelName, triggers: [trigger] }),
    },
    {
      ...{ kind: "Model", ...weekly },
      args: (of) => ({ ...ids(of), name: modelName, submittedJobId: of("TrainingJob", weekly.name).id }),
    },
  ];
}

function deployment(program: Program): Declared[] {
  const { qps, ranked } = program;
  const live = naming(program, "live");
  const request = (of: Lookup) => {
    const modelId = of("Model", nameOf(program, "weekly")).id;
    const models = { generatorModelId: modelId, ...(ranked && { rankerModelId: modelId }) };
    return { projectId: of("Project", nameOf(program, "shop")).id, ...models, name: "live", qps };
  };
  const check = { userIds: ["u1"], minResults: 1 };
  const options = program.ignoresModel ? { ...live, ignores: ["generatorModelId", "rankerModelId"] } : live;
  return [
    { ...{ kind: "DeploymentJob", ...options }, args: request },
    {
      ...{ kind: "Deployment", ...options },
      args: (of) => ({ ...request(of), check, submittedJobId: of("DeploymentJob", live.name).jobId }),
    },
  ];
}
