import type { z } from "zod";
import type { Settings } from "../../client/settings";
import type { OrphanType, Route } from "../../contract";
import type { Context } from "../run/context";
import type { Urn } from "../run/engine";
import type { Run } from "../run/session";
import type { Properties } from "../run/state-entry";
import type { Replacement } from "./wording";

/** The schema of an object. */
export type ObjectSchema<T extends object> = z.ZodObject & z.ZodType<T>;

/** Marks an output as secret in the state of every stack. */
export function secret<S extends z.ZodType>(schema: S): S {
  secrets.add(schema);
  return schema;
}

const secrets = new WeakSet<z.ZodType>();

/** The calls that each step of a resource makes for certain. */
export type StepCalls = Partial<Record<"create" | "adopt" | "update" | "delete", readonly Route[]>>;

/** The lifecycle of one definition of the API: what it accepts, and how it is created, read, updated and deleted. */
export interface ResourceDefinition<Args extends object, Outputs extends object> {
  readonly type: string;
  readonly args: ObjectSchema<Args>;
  /** What the state holds beside the arguments; names that begin with `__` stay hidden from programs. */
  readonly outputs: ObjectSchema<Outputs>;
  /** Arguments that the API cannot change: another value replaces it. */
  readonly replaceOn: readonly (keyof Args & string)[];
  /** Whether what a killed run did to it is done over by an update, should the program have gone back since. */
  readonly redo?: true;
  /** Arguments that only say how, not what: another value changes nothing by itself. */
  readonly ignoreChanges?: readonly (keyof Args & string)[];
  /** Arguments that an adopted object does not need. */
  readonly adoptedWithout?: readonly (keyof Args & string)[];
  /**
   * What is declared, with what follows from it and from the configuration, before it is checked.
   * Values may be of any type, and not known yet.
   */
  complete?(given: Properties, declaration: Declaration): Promise<Properties>;
  /** Why it cannot be, or cannot stand beside the other resources of the run, in words; what is not known yet is left alone. */
  validate?(args: Args, declaration: Declaration): string | undefined;
  /** Why creating it would fail, as far as the rest of the program shows; arguments may be unknown. */
  predictFailure?(args: Args, declaration: Declaration): Promise<string | undefined>;
  /** What a replacement means, in words, before it happens; undefined if nothing is lost. */
  replacementWarning?(replacement: Replacement): string | undefined;
  /** The calls of each step, for which a preview asks for tokens; arguments may be unknown. */
  calls(args: Args): StepCalls;
  create(args: Args, context: Context): Promise<Outputs & { id: string }>;
  /** Refuses what cannot be adopted, as far as that can be seen; changes nothing, so that a preview asks it too. */
  assertAdoptable?(id: string, args: Args, context: Context): Promise<void>;
  /** Adopts an existing object; the resource gets the id that was given, unless the outputs name another one. */
  adopt?(id: string, args: Args, context: Context): Promise<Outputs & { id?: string }>;
  /** The current state; undefined when it is gone. Absent where the API cannot read it back. */
  read?(id: string, state: Args & Outputs, context: Context): Promise<(Args & Outputs) | undefined>;
  /** The operation beyond the specification that `read` needs: on a service without it, the state is kept as it is. */
  readonly readWith?: Route;
  update?(id: string, olds: Args & Outputs, news: Args, context: Context): Promise<Outputs>;
  /** Outputs that no update changes. */
  readonly stableOutputs?: readonly (keyof Outputs & string)[];
  /**
   * The properties that mark the state as unsettled: an update has work to do even if no argument changes. A refresh stores
   * them, because the engine then drops its own notes of a killed run. Undefined if the state is settled.
   */
  unsettled?(state: Args & Outputs, row: StoredResource): Promise<Properties | undefined>;
  /** What our own service calls it, if the specification cannot delete it: a service that can is told that it is orphaned. */
  readonly orphanType?: OrphanType;
  /** Called when no other resource of the stack holds it. Absent where the API cannot delete it: it is orphaned then. */
  delete?(id: string, state: Args & Outputs, context: Context): Promise<void>;
  /** Instead of `delete`, for what needs no deletion: called even if others hold it. */
  leave?(id: string, state: Args & Outputs, context: Context): Promise<void>;
}

/** A row of the state, as its diff sees it. */
export interface StoredResource {
  readonly id: string;
  /** The resource as the state names it: an alias may have renamed it since. */
  readonly urn: Urn;
  readonly run: Run;
  readonly settings: Settings;
}

/** Where something is declared. */
export interface Declaration {
  readonly urn: Urn;
  readonly run: Run;
  /** What the configuration of the stack says under a key, without its namespace. */
  config(key: string): string | undefined;
}

/** What can be known of a definition without running it. */
export interface Rules {
  readonly type: string;
  /** The schema of what it is declared with. */
  readonly args: z.ZodObject;
  /** The schema of what the state holds beside the arguments. */
  readonly outputs: z.ZodObject;
  readonly argumentNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Outputs that are secret whatever the program says. */
  readonly secretOutputs: readonly string[];
  /** Arguments that cannot be changed in place. */
  readonly replaceOn: readonly string[];
  /** Arguments of which another value changes nothing by itself. */
  readonly ignoreChanges: readonly string[];
  /** Outputs that no update changes. */
  readonly stableOutputs: readonly string[];
  /** Whether it can be read back, if the service has `readWith`. */
  readonly readable: boolean;
  /** The operation beyond the specification that reading it needs, if any. */
  readonly readWith?: Route;
}

/** Reads the rules of a definition off its schemas. */
export function rulesOf<Args extends object, Outputs extends object>(
  definition: ResourceDefinition<Args, Outputs>,
): Rules {
  const {
    type,
    args,
    outputs,
    replaceOn,
    ignoreChanges = [],
    stableOutputs = [],
    read,
    readWith,
  } = definition;
  const named = Object.entries(outputs.shape).filter(([name]) => !name.startsWith("__"));
  return {
    type,
    args,
    outputs,
    argumentNames: Object.keys(args.shape),
    outputNames: named.map(([name]) => name),
    secretOutputs: named.flatMap(([name, schema]) => (secrets.has(schema as z.ZodType) ? [name] : [])),
    replaceOn,
    ignoreChanges,
    stableOutputs,
    readable: read !== undefined,
    ...(readWith && { readWith }),
  };
}
