import { titleOf } from "../../provider/run/urn";
import type { Effect, PropertyFinding, ResourceRef } from "./finding";

/** Engine operation on a resource. */
export type Operation = "create" | "update" | "replace" | "delete";

/** Consequence of a change: its worst effect, and a description. */
export type Consequence = readonly [effect: Effect, text: string];

type Consequences = Readonly<Record<Operation, Consequence>>;

const orphaned = "the old one is orphaned, because the API cannot delete it";

/** Consequences for resources that the API can neither change nor delete. */
const writeOnce = (afterReplace: string): Consequences => ({
  create: ["creates", "It is created; nothing else changes."],
  update: ["in place", "Only the state changes."],
  replace: ["replaces", `A new one is created, and ${orphaned}. ${afterReplace}`],
  delete: ["deletes", "It leaves the state and is orphaned, because the API cannot delete it."],
});

const records = (kind: string): Consequences => ({
  create: ["uploads", `The ${kind} are uploaded.`],
  update: ["uploads", `The ${kind} that changed are uploaded.`],
  replace: ["uploads", `All ${kind} are uploaded to the new dataset.`],
  delete: ["none", `It leaves the state. The ${kind} stay in their dataset.`],
});

const result = (job: string): Consequences => ({
  create: ["creates", `${job} runs.`],
  update: ["in place", "Only the state changes."],
  replace: ["creates", `${job} runs again. The former result leaves the state.`],
  delete: ["none", "The result leaves the state. The service deletes it after a while."],
});

const job = (name: string, effect: Effect): Consequences => ({
  create: [effect, `${name} is submitted.`],
  update: [effect, `${name} is submitted.`],
  replace: [effect, `${name} is submitted.`],
  delete: ["none", "The job leaves the state. The API cannot stop it."],
});

/** Consequences of changes in the program, by resource type. */
const changeConsequences: Readonly<Record<string, Consequences>> = {
  EventDataset: {
    create: ["creates", "An empty dataset is created."],
    update: ["in place", "It is changed in place. Its events stay."],
    replace: ["loses data", "It is replaced and its events are lost. Load them again."],
    delete: ["loses data", "It is deleted with all its events."],
  },
  UserDataset: writeOnce("Load its records into the new one."),
  ItemDataset: writeOnce("Load its records into the new one."),
  Project: writeOnce("Its algorithms and deployment are created again, and its models are trained again."),
  Algorithm: writeOnce("Its models are trained again."),
  UserRecords: records("users"),
  ItemRecords: records("items"),
  EventRecords: records("events"),
  Model: {
    create: ["retrains", "It is trained, which uses training hours."],
    update: ["in place", "It is renamed in place. Nothing is trained."],
    replace: ["retrains", "It is trained again, which uses training hours. Then the old model is deleted."],
    delete: ["deletes", "The model is deleted. To get it back, train it again."],
  },
  Deployment: {
    create: ["redeploys", "The project starts to answer recommendation calls."],
    update: ["redeploys", "It is deployed again, without downtime."],
    replace: ["stops serving", "It moves to another project. Recommendation calls to the old project fail."],
    delete: ["stops serving", "Recommendation calls to the project fail."],
  },
  UserQuery: result("The query"),
  UserClustering: result("The clustering"),
  UserRecommendations: result("The recommendation job"),
  TrainingJob: job("A training, which uses training hours,", "retrains"),
  DeploymentJob: job("A deployment", "redeploys"),
  QueryingJob: job("A query", "creates"),
  ClusteringJob: job("A clustering", "creates"),
  RecommendationJob: job("A recommendation job", "creates"),
};

const otherChanges: Consequences = {
  create: ["creates", "It is created."],
  update: ["in place", "It is changed in place."],
  replace: ["replaces", "It is replaced."],
  delete: ["deletes", "It is deleted."],
};

/** Consequences that are different if the resource has the option `retainOnDelete`. */
const retainedConsequences: Readonly<Record<string, Partial<Consequences>>> = {
  EventDataset: {
    replace: ["replaces", "An empty dataset is created. The service keeps the old one with its events."],
    delete: ["none", "It leaves the state. The service keeps it with its events."],
  },
  Model: {
    replace: ["retrains", "It is trained again, which uses training hours. The service keeps the old model."],
    delete: ["none", "It leaves the state. The service keeps it."],
  },
  Deployment: { delete: ["none", "It leaves the state and stays live."] },
};

/** Returns the consequence of applying a program change. */
export function consequenceOfChange(
  type: string,
  operation: Operation,
  properties: readonly PropertyFinding[],
  retain = false,
): Consequence {
  const keepsModels =
    properties.length > 0 && properties.every(({ path }) => /^(name|check|rollback)\b/.test(path));
  if (type === "Deployment" && operation === "update" && keepsModels) {
    return ["in place", "Only its name, check or rollback changes. Nothing is deployed."];
  }
  if (type === "Deployment" && operation === "update" && properties.length === 0) {
    return ["in place", "Its check failed and runs again. Nothing is deployed."];
  }
  const isRules =
    properties.some(({ path }) => /^rules\b/.test(path)) &&
    properties.every(({ path }) => /^(rules|name|submittedJobId)\b/.test(path));
  if (type === "Deployment" && operation === "update" && isRules)
    return ["redeploys", "Its rules change. It is deployed again, without a training or downtime."];
  const retained = retain ? retainedConsequences[type]?.[operation] : undefined;
  return retained ?? (changeConsequences[type] ?? otherChanges)[operation];
}

/** Returns the consequence of reverting drift. */
export function consequenceOfDrift(
  type: string,
  kind: "changed" | "deleted" | "not serving",
  properties: readonly PropertyFinding[],
  dependents: readonly ResourceRef[],
): Consequence {
  if (kind === "not serving") {
    if (properties.length > 0)
      return ["in place", "Something other than the service answers. Reverting runs its check again."];
    return ["redeploys", "Recommendation calls fail. Reverting deploys its models again."];
  }
  if (kind === "deleted") {
    const others = dependents.map(titleOf).join(", ");
    const affected = others && ` This also changes or recreates its dependents: ${others}.`;
    const trains = dependents.some((other) => other.type === "Model") ? " This trains again." : "";
    switch (type) {
      case "EventDataset":
        return ["loses data", `Its events are lost. Reverting creates an empty dataset.${affected}${trains}`];
      case "Model":
        return ["retrains", `Reverting trains again, which uses training hours.${affected}`];
      case "UserQuery":
      case "UserClustering":
      case "UserRecommendations":
        return ["creates", "Its job no longer exists. Reverting runs a new one."];
      case "UserRecords":
      case "ItemRecords":
      case "EventRecords":
        return ["uploads", `Its dataset has no records. Reverting uploads them again.${affected}`];
      default:
        return ["creates", `Reverting creates a new one.${affected}${trains}`];
    }
  }
  if (properties.some(({ replaces }) => replaces)) {
    return type === "EventDataset"
      ? ["loses data", "It cannot be changed back. Reverting replaces it and loses its events."]
      : ["replaces", "It cannot be changed back. Reverting replaces it."];
  }
  if (properties.length > 0 && properties.every(({ path }) => path === "servingUri"))
    return ["none", "The service reports another address. Accepting it deploys nothing."];
  switch (type) {
    case "EventDataset":
      return ["in place", "Reverting changes it in place. Its events stay."];
    case "Model":
      return ["in place", "Reverting renames it in place. Nothing is trained."];
    case "Deployment":
      return ["redeploys", "The live deployment differs. Reverting deploys the declared models again."];
    default:
      return ["in place", "Reverting changes it in place."];
  }
}
