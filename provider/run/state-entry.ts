import { z } from "zod";
import { parseJson } from "../../client/parse";
import { isSealed } from "./sealed-value";

const texts = z.array(z.string()).readonly();
const json = z.string().refine((text) => parseJson(text) !== undefined, "expected JSON");

/**
 * Properties of a state entry that programs do not see. Each is optional, because earlier versions did not write all of
 * them. They are validated, because anybody can edit a state.
 */
export const hiddenProperties = z
  .looseObject({
    /** Code from which the engine's dynamic provider loads the lifecycle. */
    __provider: z.string(),
    /** URN of the resource. The engine does not pass it to a dynamic provider. */
    __urn: z.string(),
    /**
     * Token of the create. It distinguishes entries with the same id: a replacement may adopt the object that it
     * replaces. With the plugin binding, the URN may follow after a space (see `packUrn`).
     */
    __made: z.string(),
    /** Configured address of the service that contains the object. */
    __service: z.string(),
    /** Id of the embedded service's data. A reset changes it. */
    __instance: z.string(),
    /** Fingerprint of the API key with which the object was last created, read or changed. */
    __account: z.string(),
    /** Set after a step that failed halfway: the next update runs even if no argument has changed. */
    __partial: z.boolean(),
    /**
     * Placeholder of a call in an update that got no response. If a create got no response, the id is the placeholder.
     */
    __unknown: z.string(),
    /** Id of the deployment job to roll back, if the submission of the rollback got no response. */
    __rollbackOf: z.string(),
    /** Logical name at creation, if an alias has renamed the resource since. It is the default of `name`. */
    __firstName: z.string(),
    /** Whether the program sets `name`. Only with the plugin binding, which stores no URN in the inputs. */
    __named: z.boolean(),
    /** Option `replaceOnChanges`. The engine does not apply it to dynamic resources, so `diff` does. */
    __replaceOn: texts,
    /** Names of secret arguments and settings. The engine does not pass them to a dynamic provider. */
    __secret: texts,
    /**
     * Arguments that stay unknown because a resource they depend on has failed. `check` removes this property, so it is
     * never stored.
     */
    __unresolved: texts,
    /** Schema that the service inferred because the program declares none, as JSON. */
    __inferred: json,
    /** Token of the last upload, even if it did not complete. The upload journal has the same token. */
    __upload: z.string(),
    /**
     * Killed creates of the resource that a later create has superseded. The engine keeps notes of them in the state.
     * They are listed as content hashes of first uploads, or as digests of other creates (see `digestOfNote`).
     */
    __superseded: texts,
    /** Id of the recovery journal on the machine that last created or changed the resource. Only in the inputs. */
    __journal: z.string(),
    /**
     * Digest of the version of a remote source, such as its ETag, and of `contentHash`. While the server reports the same
     * version, the source is not read again.
     */
    __sourceVersion: z.string(),
    /** Training time in milliseconds. A preview shows it as the cost of another training. */
    __trainedMs: z.number(),
    /** Creation time of a model as the service reported it. It reveals a model of another account with the same id. */
    __createdTs: z.number(),
  })
  .partial();

/** Arguments or state of a resource, as the engine passes them. */
export type Properties = z.output<typeof hiddenProperties>;

/** Entry of a stack's state: a resource and the object that it references in the service. */
export interface StateEntry {
  readonly urn: string;
  /** Resource type, such as `EventDataset`. */
  readonly type: string;
  readonly id: string;
  /** Token of the create, without the URN. Undefined if the state encrypts it. */
  readonly made: string | undefined;
  /** Address of the service. Undefined if the state lacks or encrypts it. */
  readonly service?: string | undefined;
  /** Id of the embedded service's data. Undefined for other services. */
  readonly instance?: string | undefined;
  /** Fingerprint of the API key with which the object was last created, read or changed. */
  readonly account?: string | undefined;
  /** Project of a model, an algorithm or a job. */
  readonly projectId?: string | undefined;
  /** Name of the object in the service. Undefined if the state lacks or encrypts it. */
  readonly name?: string | undefined;
  /** Number of shards of a dataset, which never changes. */
  readonly numShards?: number | undefined;
  /** Creation time of a model, in the unit of the service. */
  readonly createdTs?: number | undefined;
  /** Whether the engine has replaced the resource and will delete this entry. */
  readonly isPendingDelete?: boolean;
  /** State of an entry that the engine will delete. Other entries leave it out, because it may be large. */
  readonly replacedState?: Properties;
}

/** Entry that the engine will delete because it has replaced the resource. */
export type ReplacedEntry = StateEntry & Required<Pick<StateEntry, "replacedState">>;

/** Resource types whose objects the service identifies by project and id. */
const typesInProject = /^(Model|Algorithm|UserQuery|UserClustering|UserRecommendations)$|Job$/;

/** Builds the state entry of a resource from its properties. */
export function stateEntryOf(type: string, id: string, properties: Properties): StateEntry {
  const {
    __urn = "",
    __made = __urn,
    __service: service,
    __instance: instance,
    __account: account,
    projectId,
    name,
    numShards,
    __createdTs: createdTs,
  } = unpackUrn(properties);
  return {
    urn: __urn,
    type,
    id,
    made: isSealed(__made) ? undefined : __made,
    ...(typeof service === "string" && { service }),
    ...(typeof instance === "string" && { instance }),
    ...(typeof account === "string" && { account }),
    ...(typesInProject.test(type) && typeof projectId === "string" && { projectId }),
    ...(typeof name === "string" && { name }),
    ...(typeof numShards === "number" && { numShards }),
    ...(typeof createdTs === "number" && { createdTs }),
  };
}

/** Whether two values describe the same state entry. Without tokens, the URNs decide. */
export function isSameEntry(a: StateEntry, b: StateEntry): boolean {
  const isMade = a.made === undefined || b.made === undefined ? a.urn === b.urn : a.made === b.made;
  return a.type === b.type && a.id === b.id && isMade;
}

/** Service that contains an object. */
type Place = Pick<StateEntry, "service" | "instance">;

/**
 * Whether two objects may be in the same service. Equal ids in two services are different objects. Embedded services of
 * two projects may have the same relative address, so the id of the data decides if both objects have one.
 */
export function mayBeSameService(a: Place, b: Place): boolean {
  if (a.instance !== undefined && b.instance !== undefined) return a.instance === b.instance;
  const [one, other] = [a.service, b.service].map((address) => address?.replace(/\/+$/, ""));
  return one === undefined || other === undefined || one === other;
}

const tokenPattern = /^[0-9a-f]{8}$/;
const tokenAndUrn = /^([0-9a-f]{8}) (urn:.*)$/s;

/**
 * Stores the token of a create and the URN in one property. The engine writes the whole state twice per resource, so
 * each property costs time in large stacks. A `__made` that is not such a token, as other versions write it, stays a
 * separate property.
 */
export function packUrn(made: string | undefined, urn: string | undefined): Properties {
  if (made !== undefined && urn !== undefined && tokenPattern.test(made)) return { __made: `${made} ${urn}` };
  return { ...(urn !== undefined && { __urn: urn }), ...(made !== undefined && { __made: made }) };
}

/** Reverses `packUrn`. */
export function unpackUrn(properties: Properties): Properties {
  const { __made } = properties;
  const [, made, urn] = (typeof __made === "string" && tokenAndUrn.exec(__made)) || [];
  return made === undefined ? properties : { __urn: urn, ...properties, __made: made };
}
