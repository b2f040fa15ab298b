import type { Declared, Kind, Lookup } from "./small-engine";

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
}

/** The program that every sequence begins with. */
export const first: Program = {
  ...{ shards: 1, eventsName: "events", usersName: "users", second: false, parameters: 4 },
  ...{ trigger: 0, modelName: "weekly", trained: true, deployed: true, qps: 500 },
};

/** The resources of a program; `existing` are ids that the user has told it. */
export function declared(program: Program, existing: Readonly<Record<string, string>>): Declared[] {
  const { shards, eventsName, usersName, second, parameters, trigger, modelName, trained, deployed, qps } =
    program;
  const told = (title: string) => (existing[title] ? { existingId: existing[title] } : {});
  const dataset = (kind: Kind, name: string, numShards: number, label: string): Declared => ({
    ...{ kind, name },
    args: () => ({ name: label, numShards, ...told(`${kind} ${name}`) }),
  });
  const all: Declared[] = [
    dataset("UserDataset", "users", 1, usersName),
    dataset("ItemDataset", "items", 1, "items"),
    dataset("EventDataset", "events", shards, eventsName),
    {
      ...{ kind: "Project", name: "shop" },
      args: (of) => ({
        ...{ name: "shop", projectType: "RECOMMEND_ITEMS_TO_USER", targetEventType: "purchase" },
        userDatasetId: of("UserDataset", "users").id,
        itemDatasetId: of("ItemDataset", "items").id,
        eventDatasetId: of("EventDataset", "events").id,
        ...told("Project shop"),
      }),
    },
    {
      ...{ kind: "Algorithm", name: "g1" },
      args: (of) => ({
        projectId: of("Project", "shop").id,
        ...{ name: "g1", algorithmType: "G1" },
        algorithmParameters: { dimensions: parameters, epochs: 1, regularization: 0.1, alpha: 0.3 },
        ...told("Algorithm g1"),
      }),
    },
  ];
  if (second) all.push(dataset("EventDataset", "more", 1, eventsName));
  if (trained) all.push(...training(modelName, trigger));
  if (trained && deployed) all.push(...deployment(qps));
  return all;
}

function training(modelName: string, trigger: number): Declared[] {
  const ids = (of: Lookup) => ({
    projectId: of("Project", "shop").id,
    algorithmId: of("Algorithm", "g1").id,
  });
  return [
    {
      ...{ kind: "TrainingJob", name: "weekly" },
      args: (of) => ({ ...ids(of), name: modelName, triggers: [trigger] }),
    },
    {
      ...{ kind: "Model", name: "weekly" },
      args: (of) => ({ ...ids(of), name: modelName, submittedJobId: of("TrainingJob", "weekly").id }),
    },
  ];
}

function deployment(qps: number): Declared[] {
  const request = (of: Lookup) => ({
    projectId: of("Project", "shop").id,
    generatorModelId: of("Model", "weekly").id,
    ...{ name: "live", qps },
  });
  const check = { userIds: ["u1"], minResults: 1 };
  return [
    { ...{ kind: "DeploymentJob", name: "live" }, args: request },
    {
      ...{ kind: "Deployment", name: "live" },
      args: (of) => ({ ...request(of), check, submittedJobId: of("DeploymentJob", "live").jobId }),
    },
  ];
}
