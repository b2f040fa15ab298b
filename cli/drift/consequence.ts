import { titleOf } from "../../provider/run/urn";
import type { Effect, PropertyFinding, ResourceRef } from "./finding";

/** What happens to a resource of the program. */
export type Operation = "create" | "update" | "replace" | "delete";

/** What something leads to: the worst of it, and all of it in words. */
export interface Consequence {
  readonly effect: Effect;
  readonly text: string;
}

type Consequences = Readonly<Record<Operation, Consequence>>;

const consequence = (effect: Effect, text: string): Consequence => ({ effect, text });

const orphaned = "the old one is orphaned, as the API cannot delete it";

const writeOnce = (anew: string): Consequences => ({
  create: consequence("creates", "It is created; nothing else changes."),
  update: consequence("in place", "Only the state changes."),
  replace: consequence("replaces", `Another one is created and ${orphaned}. ${anew}`),
  delete: consequence("deletes", "It is forgotten and orphaned: the API cannot delete it."),
});

const records = (noun: string, kept: string): Consequences => ({
  create: consequence("uploads", `The ${noun} are uploaded.`),
  update: consequence("uploads", `The ${noun} that changed are uploaded.`),
  replace: consequence("uploads", `All ${noun} are uploaded into the other dataset.`),
  delete: consequence("none", `The resource is forgotten; ${kept}.`),
});

const result = (asked: string): Consequences => ({
  create: consequence("creates", `${asked} runs.`),
  update: consequence("in place", "Only the state changes."),
  replace: consequence("creates", `${asked} runs again; the former result is forgotten.`),
  delete: consequence("none", "The result is forgotten; the service keeps it as long as it likes."),
});

const job = (name: string, effect: Effect): Consequences => ({
  create: consequence(effect, `${name} is submitted.`),
  update: consequence(effect, `${name} is submitted.`),
  replace: consequence(effect, `${name} is submitted.`),
  delete: consequence("none", "The job is forgotten; the API cannot stop it."),
});

/** What a change of the program leads to, for each kind of resource. */
const changeConsequences: Readonly<Record<string, Consequences>> = {
  EventDataset: {
    create: consequence("creates", "An empty dataset is created."),
    update: consequence("in place", "It is changed in place; its events stay."),
    replace: consequence("loses data", "It is replaced and its events are lost: they must be loaded again."),
    delete: consequence("loses data", "It is deleted with all its events."),
  },
  UserDataset: writeOnce("Its records must be loaded into the new one."),
  ItemDataset: writeOnce("Its records must be loaded into the new one."),
  Project: writeOnce("Its algorithms, models and deployment are created again: this trains again."),
  Algorithm: writeOnce("Its models are trained again."),
  UserRecords: records("users", "the users stay in their dataset"),
  ItemRecords: records("items", "the items stay in their dataset"),
  EventRecords: records("events", "the events stay in their dataset"),
  Model: {
    create: consequence("retrains", "It is trained, which takes training hours."),
    update: consequence("in place", "It is renamed in place; nothing is trained."),
    replace: consequence(
      "retrains",
      "It is trained again, which takes training hours; the former model is then deleted.",
    ),
    delete: consequence("deletes", "The model is deleted; only training brings it back."),
  },
  Deployment: {
    create: consequence("redeploys", "The project begins to serve."),
    update: consequence("redeploys", "It is deployed again without a gap."),
    replace: consequence("stops serving", "It moves to another project: the former project stops serving."),
    delete: consequence("stops serving", "The project stops serving: recommendation calls fail."),
  },
  UserQuery: result("The query"),
  UserClustering: result("The clustering"),
  TrainingJob: job("A training, which takes training hours,", "retrains"),
  DeploymentJob: job("A deployment", "redeploys"),
  QueryingJob: job("A query", "creates"),
  ClusteringJob: job("A clustering", "creates"),
};

const otherChanges: Consequences = {
  create: consequence("creates", "It is created."),
  update: consequence("in place", "It is changed in place."),
  replace: consequence("replaces", "It is replaced."),
  delete: consequence("deletes", "It is deleted."),
};

/** The same where the option retainOnDelete keeps in the service what leaves the stack. */
const retainedConsequences: Readonly<Record<string, Partial<Consequences>>> = {
  EventDataset: {
    replace: consequence(
      "replaces",
      "An empty one is created; the old one is kept with its events, but in no stack.",
    ),
    delete: consequence("none", "It is forgotten, and kept in the service with its events."),
  },
  Model: {
    replace: consequence(
      "retrains",
      "It is trained again, which takes training hours; the former model is kept.",
    ),
    delete: consequence("none", "It is forgotten, and kept in the service."),
  },
  Deployment: { delete: consequence("none", "It is forgotten, and goes on serving.") },
};

/** What a change of the program leads to when it is carried out. */
export function consequenceOfChange(
  type: string,
  operation: Operation,
  properties: readonly PropertyFinding[],
  retain = false,
): Consequence {
  const onlyHow =
    properties.length > 0 && properties.every(({ path }) => /^(name|check|rollback)\b/.test(path));
  if (type === "Deployment" && operation === "update" && onlyHow) {
    return consequence("in place", "Only its name, check or rollback differs; nothing is deployed.");
  }
  if (type === "Deployment" && operation === "update" && properties.length === 0) {
    return consequence("in place", "Its check failed, and is run again; nothing is deployed.");
  }
  const kept = retain ? retainedConsequences[type]?.[operation] : undefined;
  return kept ?? (changeConsequences[type] ?? otherChanges)[operation];
}

/** What reverting drift leads to. */
export function consequenceOfDrift(
  type: string,
  kind: "changed" | "deleted" | "not serving",
  properties: readonly PropertyFinding[],
  dependents: readonly ResourceRef[],
): Consequence {
  if (kind === "not serving") {
    return consequence("redeploys", "Recommendation calls fail. Reverting deploys its models again.");
  }
  if (kind === "deleted") {
    const others = dependents.map(titleOf).join(", ");
    const anew = others && ` What depends on it is changed or created again with it: ${others}.`;
    const trains = dependents.some((other) => other.type === "Model") ? " This trains again." : "";
    switch (type) {
      case "EventDataset":
        return consequence(
          "loses data",
          `Its events are gone. Reverting creates an empty dataset.${anew}${trains}`,
        );
      case "Model":
        return consequence("retrains", `Reverting trains again, which takes training hours.${anew}`);
      case "UserQuery":
      case "UserClustering":
        return consequence("creates", "Its job is gone; reverting runs another one.");
      case "UserRecords":
      case "ItemRecords":
      case "EventRecords":
        return consequence("uploads", `Its dataset holds no records. Reverting uploads them again.${anew}`);
      default:
        return consequence("creates", `Reverting creates another one.${anew}${trains}`);
    }
  }
  if (properties.some(({ replaces }) => replaces)) {
    return type === "EventDataset"
      ? consequence("loses data", "It cannot be changed back: reverting replaces it and loses its events.")
      : consequence("replaces", "It cannot be changed back: reverting replaces it.");
  }
  if (properties.length > 0 && properties.every(({ path }) => path === "servingUri"))
    return consequence("none", "The service reports another address; nothing is deployed to adopt it.");
  switch (type) {
    case "EventDataset":
      return consequence("in place", "Reverting changes it in place; its events stay.");
    case "Model":
      return consequence("in place", "Reverting renames it in place; nothing is trained.");
    case "Deployment":
      return consequence("redeploys", "Something else serves. Reverting deploys the declared models again.");
    default:
      return consequence("in place", "Reverting changes it in place.");
  }
}
