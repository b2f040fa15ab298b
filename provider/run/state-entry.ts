import { isSealed } from "./sealed-value";

/**
 * What a row of the stack's state holds beside the arguments and outputs of its resource. Programs do not see it.
 * State of earlier versions lacks some of it, so that everything is optional.
 */
export interface HiddenProperties {
  /** Where the engine's dynamic provider loads the lifecycle from. */
  readonly __provider?: string;
  /** The resource that the row is of; a dynamic provider is not told otherwise. */
  readonly __urn?: string | undefined;
  /**
   * Tells rows of one id apart: a replacement may have adopted what it replaces. The URN follows it if the
   * plugin manages the resource and the stack may switch to dynamic resources: the engine saves the whole state twice for each
   * resource, and that takes the longer the more properties there are.
   */
  readonly __made?: string;
  /** The service that the object belongs to, as configured. */
  readonly __service?: string;
  /** The data of an embedded service that the object belongs to: another one after a reset. */
  readonly __instance?: string;
  /** A fingerprint of the developer's key that the object was last seen with. */
  readonly __account?: string;
  /** Set where an error kept only a part: the next update must do its work whatever the arguments say. */
  readonly __partial?: boolean;
  /** The placeholder of a lost call of an update; that of a create is the id itself. */
  readonly __unknown?: string;
  /** The deployment job whose rollback got no response. */
  readonly __rollbackOf?: string | undefined;
  /** The logical name that became the name in the service, where an alias has changed the former since. */
  readonly __firstName?: string;
  /** Whether the program gives the name; only with the plugin binding, which keeps no URN among the inputs. */
  readonly __named?: boolean;
  /** The option `replaceOnChanges`, which a dynamic provider must heed by itself. */
  readonly __replaceOn?: readonly string[];
  /** Arguments that are secret, which a dynamic provider is not told otherwise. */
  readonly __secret?: readonly string[];
  /** Arguments that stay unknown because what they come from has failed; never stored, for `check` removes it. */
  readonly __unresolved?: readonly unknown[];
  /** The schema that the service inferred where none was declared, as JSON. */
  readonly __inferred?: string;
  /** The upload that brought the records of a source, complete or not; its journal has the same token. */
  readonly __upload?: string | undefined;
  /** Contents of killed first uploads that came before this upload: the engine keeps its notes of them. */
  readonly __superseded?: readonly string[] | undefined;
  /** Milliseconds that the training of the model took, so a preview can say what another one costs. */
  readonly __trainedMs?: number;
}

/** The arguments or the state of a resource as the engine hands them over. */
export type Properties = Record<string, unknown> & HiddenProperties;

/** A row of a stack's state: a resource, and what it claims in the service. */
export interface StateEntry {
  readonly urn: string;
  /** The definition: `EventDataset`. */
  readonly type: string;
  readonly id: string;
  /** Tells rows of one id apart; not known where the engine keeps it secret. */
  readonly made: string | undefined;
  /** Address of the service that holds it; undefined if the state does not know it or keeps it secret. */
  readonly service?: string | undefined;
  /** A fingerprint of the key that it was last seen with. */
  readonly account?: string | undefined;
  /** The project of a model or an algorithm. */
  readonly projectId?: string | undefined;
  /** Whether the engine has replaced it, and is to delete it. */
  readonly isPendingDelete?: boolean;
}

/** The row of a resource, as its lifecycle knows it. */
export function stateEntryOf(type: string, id: string, properties: Properties): StateEntry {
  const {
    __urn = "",
    __made = __urn,
    __service: service,
    __account: account,
    projectId,
  } = unpackUrn(properties);
  return {
    urn: __urn,
    type,
    id,
    made: isSealed(__made) ? undefined : __made,
    ...(typeof service === "string" && { service }),
    ...(typeof account === "string" && { account }),
    ...(["Model", "Algorithm"].includes(type) && typeof projectId === "string" && { projectId }),
  };
}

/** Whether two rows are one. */
export function isSameEntry(a: StateEntry, b: StateEntry): boolean {
  const isMade = a.made === undefined || b.made === undefined ? a.urn === b.urn : a.made === b.made;
  return a.type === b.type && a.id === b.id && isMade;
}

/** Whether two rows may hold the same thing: ids of two services say nothing about each other. */
export function mayBeSameService(a: Pick<StateEntry, "service">, b: Pick<StateEntry, "service">): boolean {
  const [one, other] = [a.service, b.service].map((address) => address?.replace(/\/+$/, ""));
  return one === undefined || other === undefined || one === other;
}

const token = /^[0-9a-f]{8}$/;
const tokenAndUrn = /^([0-9a-f]{8}) (urn:.*)$/s;

/** What tells rows apart and the URN in one property; two where the former is not a token of ours. */
export function packUrn(made: string | undefined, urn: string | undefined): Properties {
  if (made !== undefined && urn !== undefined && token.test(made)) return { __made: `${made} ${urn}` };
  return { ...(urn !== undefined && { __urn: urn }), ...(made !== undefined && { __made: made }) };
}

/** The same as two properties again. */
export function unpackUrn(properties: Properties): Properties {
  const { __made } = properties;
  const [, made, urn] = (typeof __made === "string" && tokenAndUrn.exec(__made)) || [];
  return made === undefined ? properties : { __urn: urn, ...properties, __made: made };
}
