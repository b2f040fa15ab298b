import type { Declared } from "./declared";
import type { Kind, Lookup } from "./rows";

/** Parameters that leave a training nothing to search for. */
export const fixed = {
  epochs: 1,
  regularization: 0.1,
  alpha: 0.3,
  weighting: "log",
  damping: 0,
  neighbours: 0,
};

/** Places of the program whose resources may be renamed. */
export const places = ["users", "events", "shop", "g1", "weekly", "live"] as const;

/** One of them. */
export type Place = (typeof places)[number];

/** What the program declares. */
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
  /** Whether the model serves as its own ranker too. */
  readonly ranked: boolean;
  /** Places whose resources have their other name. */
  readonly renamed: readonly Place[];
  /** Whether what has another name says which one it had before. */
  readonly aliased: boolean;
  /** Id of an event dataset that one more resource adopts. */
  readonly twin?: string | undefined;
  /** Kinds that are deleted before they are replaced. */
  readonly deleteFirst?: readonly Kind[];
  /** Whether the deployment ignores that it is to have other models. */
  readonly ignoresModel?: boolean;
}

/** The program that every sequence begins with. */
export const first: Program = {
  ...{ shards: 1, eventsName: "events", usersName: "users", second: false, parameters: 4 },
  ...{ trigger: 0, modelName: "weekly", trained: true, deployed: true, qps: 500, ranked: false },
  ...{ renamed: [], aliased: false },
};

/** The resources in a place, the first of which is made by a call of its own. */
export const kindsIn = {
  ...{ users: ["UserDataset"], events: ["EventDataset"], shop: ["Project"], g1: ["Algorithm"] },
  ...{ weekly: ["TrainingJob", "Model"], live: ["DeploymentJob", "Deployment"] },
} as const satisfies Record<Place, readonly Kind[]>;

/** The name of the resources in a place. */
export function nameOf({ renamed }: Pick<Program, "renamed">, place: Place): string {
  return renamed.includes(place) ? `${place}-renamed` : place;
}

/** The name that they do not have. */
export function otherNameOf(program: Pick<Program, "renamed">, place: Place): string {
  return nameOf(program, place) === place ? `${place}-renamed` : place;
}

/** The resources of a program; `existing` are ids that the user has told it. */
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

/** One more resource for a dataset that another holds. */
function twin(existingId: string, name: string): Declared {
  return { kind: "EventDataset", name: "twin", args: () => ({ name, numShards: 1, existingId }) };
}

/** What is to serve, as the service tells it; undefined where nothing is. */
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
