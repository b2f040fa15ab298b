import type { z } from "zod";
import type { Settings } from "../../client/settings";
import type { OrphanType, Route } from "../../contract";
import type { Context } from "../run/context";
import type { Urn } from "../run/engine";
import type { Run, Session } from "../run/session";
import type { Properties } from "../run/state-entry";
import type { PlannedCall } from "./scopes";
import type { Replacement } from "./wording";

/** Schema of an object. */
export type ObjectSchema<T extends object> = z.ZodObject & z.ZodType<T>;

/** Marks an output as always secret. */
export function secret<S extends z.ZodType>(schema: S): S {
  secrets.add(schema);
  return schema;
}

const secrets = new WeakSet<z.ZodType>();

/** Definition of a resource type: its arguments, and how the API creates, reads, updates and deletes its objects. */
export interface ResourceDefinition<Args extends object, Outputs extends object> {
  readonly type: string;
  readonly args: ObjectSchema<Args>;
  /** Outputs in the state. Programs do not see outputs whose names start with `__`. */
  readonly outputs: ObjectSchema<Outputs>;
  /** Arguments that the API cannot change. A new value replaces the object. */
  readonly replaceOn: readonly (keyof Args & string)[];
  /**
   * Whether to update the object if a killed run has changed it and the program declares the stored arguments again.
   */
  readonly redo?: true;
  /** Arguments whose change alone causes no update, such as the name of a job. */
  readonly ignoreChanges?: readonly (keyof Args & string)[];
  /** Arguments that an adopted object does not need. Changes to them have no effect on it. */
  readonly adoptedWithout?: readonly (keyof Args & string)[];
  /**
   * Adds arguments that follow from the declaration and the configuration, before validation. Values may have any type
   * and may be unknown. `olds` are the arguments in the state; they are empty for a new resource.
   */
  complete?(given: Properties, declaration: Declaration, olds: Properties): Promise<Properties>;
  /** Returns an error if the arguments are invalid or conflict with other resources. Must accept unknown values. */
  validate?(args: Args, declaration: Declaration): Promise<string | undefined> | string | undefined;
  /** Returns an error if the rest of the program shows that a create would fail. Arguments may be unknown. */
  predictFailure?(args: Args, declaration: Declaration): Promise<string | undefined>;
  /** Returns a warning about the consequences of a replacement. Undefined if nothing is lost. */
  replacementWarning?(replacement: Replacement): string | undefined;
  /**
   * Returns the calls that each step always sends. A preview checks that the service supports them and that the
   * credentials have their scopes. Arguments may be unknown.
   */
  calls(args: Args): Partial<Record<"create" | "adopt" | "update" | "delete", readonly PlannedCall[]>>;
  create(args: Args, context: Context): Promise<Outputs & { id: string }>;
  /** Throws if an object cannot be adopted. Changes nothing, so a preview calls it too. */
  assertAdoptable?(id: string, args: Args, context: Context): Promise<void>;
  /** Adopts an existing object. The resource gets the given id unless the outputs contain a different one. */
  adopt?(id: string, args: Args, context: Context): Promise<Outputs & { id?: string }>;
  /** Returns the current state, or undefined if the object no longer exists. Absent if the API cannot read it. */
  read?(id: string, state: Args & Outputs, context: Context): Promise<(Args & Outputs) | undefined>;
  /** Extension of the API that `read` needs. On a service without it, a refresh leaves the state unchanged. */
  readonly readWith?: Route;
  update?(id: string, olds: Args & Outputs, news: Args, context: Context): Promise<Outputs>;
  /** Outputs that no update changes. */
  readonly stableOutputs?: readonly (keyof Outputs & string)[];
  /**
   * Returns the properties that mark the state as unsettled, so an update is due even if no argument changes. Returns
   * undefined if the state is settled. A refresh stores these properties, because the engine then drops its notes of a
   * killed run. `declared` contains the arguments in the program; it is undefined if a refresh runs without the
   * program.
   */
  unsettled?(
    state: Args & Outputs,
    resource: StoredResource,
    declared?: Args,
  ): Promise<Properties | undefined>;
  /** Object type in the service's list of orphans, if the API cannot delete the object. */
  readonly orphanType?: OrphanType;
  /**
   * Deletes the object. Called only if no other state entry references it. Without this method, the object is orphaned.
   */
  delete?(id: string, state: Args & Outputs, context: Context): Promise<void>;
  /**
   * Called instead of `delete` for types that delete nothing in the service, even if other state entries reference the
   * object.
   */
  leave?(id: string, state: Args & Outputs, context: Context): Promise<void>;
}

/** Definition of any resource type, for the steps that all types share. */
export type Definition = ResourceDefinition<Properties, Properties>;

/** Resource in the state. */
export interface StoredResource {
  readonly id: string;
  /** URN in the state. An alias may have renamed the resource since. */
  readonly urn: Urn;
  readonly run: Run;
  readonly settings: Settings;
}

/** Declaration of a resource in the program. */
export interface Declaration {
  readonly urn: Urn;
  /** Name of the resource in messages, such as `EventDataset clicks`. */
  readonly title: string;
  readonly run: Run;
  /** Returns the value of a configuration key. Pass the key without its namespace. */
  config(key: string): string | undefined;
  /** Opens the session. Undefined if the service is embedded, because a preview must not start it. */
  session(): Promise<Session | undefined>;
}

/**
 * Returns the name of the output that contains the object's id, such as `eventDatasetId`. No update changes this
 * output.
 */
export function idOutput(type: string): string {
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}Id`;
}

/** Static properties of a resource type, which follow from its definition. */
export type Rules = Readonly<ReturnType<typeof rulesOf>>;

/** Derives the static properties of a resource type from its definition. */
export function rulesOf(definition: Definition) {
  const { type, args, outputs, replaceOn, ignoreChanges = [], stableOutputs = [] } = definition;
  const { read, readWith } = definition;
  const named = Object.entries(outputs.shape).filter(([name]) => !name.startsWith("__"));
  return {
    type,
    args: args as z.ZodObject,
    outputs: outputs as z.ZodObject,
    argumentNames: Object.keys(args.shape),
    outputNames: named.map(([name]) => name),
    /** Outputs that are always secret. */
    secretOutputs: named.flatMap(([name, schema]) => (secrets.has(schema as z.ZodType) ? [name] : [])),
    replaceOn,
    ignoreChanges,
    stableOutputs,
    /** Whether objects can be read. If `readWith` is set, only a service that offers it can read them. */
    readable: read !== undefined,
    readWith,
  };
}
