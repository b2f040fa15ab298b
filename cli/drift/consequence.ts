import { titleOf } from "../../provider/run/urn";
import type { Effect, PropertyFinding, ResourceRef } from "./finding";

/** What happens to a resource of the program. */
export type Operation = "create" | "update" | "replace" | "delete";

/** What something leads to: the worst of it, and all of it in words. */
export interface Consequence {
  readonly effect: Effect;
  readonly words: string;
}

type Consequences = Readonly<Record<Operation, Consequence>>;

const of = (effect: Effect, words: string): Consequence => ({ effect, words });

const orphaned = "the old one is orphaned, as the API cannot delete it";

const writeOnce = (anew: string): Consequences => ({
  create: of("creates", "It is created; nothing else changes."),
  update: of("in place", "Only the state changes."),
  replace: of("replaces", `Another one is created and ${orphaned}. ${anew}`),
  delete: of("deletes", "It is forgotten and orphaned: the API cannot delete it."),
});

const records = (noun: string, kept: string): Consequences => ({
  create: of("uploads", `The ${noun} are uploaded.`),
  update: of("uploads", `The ${noun} that changed are uploaded.`),
  replace: of("uploads", `All ${noun} are uploaded into the other dataset.`),
  delete: of("none", `The resource is forgotten; ${kept}.`),
});

const result = (asked: string): Consequences => ({
  create: of("creates", `${asked} runs.`),
  update: of("in place", "Only the state changes."),
  replace: of("creates", `${asked} runs again; the former result is forgotten.`),
  delete: of("none", "The result is forgotten; the service keeps it as long as it likes."),
});

const job = (name: string, effect: Effect): Consequences => ({
  create: of(effect, `${name} is submitted.`),
  update: of(effect, `${name} is submitted.`),
  replace: of(effect, `${name} is submitted.`),
  delete: of("none", "The job is forgotten; the API cannot stop it."),
});

/** What a change of the program leads to, for each kind of resource. */
const ofChanges: Readonly<Record<string, Consequences>> = {
  EventDataset: {
    create: of("creates", "An empty dataset is created."),
    update: of("in place", "It is changed in place; its events stay."),
    replace: of("loses data", "It is replaced and its events are lost: they must be loaded again."),
    delete: of("loses data", "It is deleted with all its events."),
  },
  UserDataset: writeOnce("Its records must be loaded into the new one."),
  ItemDataset: writeOnce("Its records must be loaded into the new one."),
  Project: writeOnce("Its algorithms, models and deployment are created again: this trains again."),
  Algorithm: writeOnce("Its models are trained again."),
  UserRecords: records("users", "the users stay in their dataset"),
  ItemRecords: records("items", "the items stay in their dataset"),
  EventRecords: records("events", "the events stay in their dataset"),
  Model: {
    create: of("retrains", "It is trained, which takes training hours."),
    update: of("in place", "It is renamed in place; nothing is trained."),
    replace: of(
      "retrains",
      "It is trained again, which takes training hours; the former model is then deleted.",
    ),
    delete: of("deletes", "The model is deleted; only training brings it back."),
  },
  Deployment: {
    create: of("redeploys", "The project begins to serve."),
    update: of("redeploys", "It is deployed again without a gap."),
    replace: of("stops serving", "It moves to another project: the former project stops serving."),
    delete: of("stops serving", "The project stops serving: recommendation calls fail."),
  },
  UserQuery: result("The query"),
  UserClustering: result("The clustering"),
  TrainingJob: job("A training, which takes training hours,", "retrains"),
  DeploymentJob: job("A deployment", "redeploys"),
  QueryingJob: job("A query", "creates"),
  ClusteringJob: job("A clustering", "creates"),
};

const otherChanges: Consequences = {
  create: of("creates", "It is created."),
  update: of("in place", "It is changed in place."),
  replace: of("replaces", "It is replaced."),
  delete: of("deletes", "It is deleted."),
};

/** The same where the option retainOnDelete keeps in the service what leaves the stack. */
const retained: Readonly<Record<string, Partial<Consequences>>> = {
  EventDataset: {
    replace: of("replaces", "An empty one is created; the old one is kept with its events, but in no stack."),
    delete: of("none", "It is forgotten, and kept in the service with its events."),
  },
  Model: {
    replace: of("retrains", "It is trained again, which takes training hours; the former model is kept."),
    delete: of("none", "It is forgotten, and kept in the service."),
  },
  Deployment: { delete: of("none", "It is forgotten, and goes on serving.") },
};

/** What a change of the program leads to when it is carried out. */
export function ofChange(
  type: string,
  operation: Operation,
  properties: readonly PropertyFinding[],
  retain = false,
): Consequence {
  const onlyHow =
    properties.length > 0 && properties.every(({ path }) => /^(name|check|rollback)\b/.test(path));
  if (type === "Deployment" && operation === "update" && onlyHow) {
    return of("in place", "Only its name, check or rollback differs; nothing is deployed.");
  }
  if (type === "Deployment" && operation === "update" && properties.length === 0) {
    return of("in place", "Its check failed, and is run again; nothing is deployed.");
  }
  const kept = retain ? retained[type]?.[operation] : undefined;
  return kept ?? (ofChanges[type] ?? otherChanges)[operation];
}

/** What reverting drift leads to. */
export function ofDrift(
  type: string,
  kind: "changed" | "deleted" | "not serving",
  properties: readonly PropertyFinding[],
  dependents: readonly ResourceRef[],
): Consequence {
  if (kind === "not serving") {
    return of("redeploys", "Recommendation calls fail. Reverting deploys its models again.");
  }
  if (kind === "deleted") {
    const others = dependents.map(titleOf).join(", ");
    const anew = others && ` What depends on it is changed or created again with it: ${others}.`;
    const trains = dependents.some((other) => other.type === "Model") ? " This trains again." : "";
    switch (type) {
      case "EventDataset":
        return of("loses data", `Its events are gone. Reverting creates an empty dataset.${anew}${trains}`);
      case "Model":
        return of("retrains", `Reverting trains again, which takes training hours.${anew}`);
      case "UserQuery":
      case "UserClustering":
        return of("creates", "Its job is gone; reverting runs another one.");
      case "UserRecords":
      case "ItemRecords":
      case "EventRecords":
        return of("uploads", `Its dataset holds no records. Reverting uploads them again.${anew}`);
      default:
        return of("creates", `Reverting creates another one.${anew}${trains}`);
    }
  }
  if (properties.some(({ replaces }) => replaces)) {
    return type === "EventDataset"
      ? of("loses data", "It cannot be changed back: reverting replaces it and loses its events.")
      : of("replaces", "It cannot be changed back: reverting replaces it.");
  }
  if (properties.length > 0 && properties.every(({ path }) => path === "servingUri"))
    return of("none", "The service reports another address; nothing is deployed to adopt it.");
  switch (type) {
    case "EventDataset":
      return of("in place", "Reverting changes it in place; its events stay.");
    case "Model":
      return of("in place", "Reverting renames it in place; nothing is trained.");
    case "Deployment":
      return of("redeploys", "Something else serves. Reverting deploys the declared models again.");
    default:
      return of("in place", "Reverting changes it in place.");
  }
}
