import type { z } from "zod";

/** Schema of a request: an object, or a union of objects with a discriminator field. */
export type RequestSchema = z.ZodObject | z.ZodDiscriminatedUnion;

/** An operation of the API. */
export interface Route<Request extends RequestSchema = RequestSchema, Reply extends z.ZodType = z.ZodType> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path under the base address. It is also the token scope that the call needs. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly request: Request;
  readonly reply: Reply;
  /** Optional request headers that extend the specification, by their names in lower case. */
  readonly headers?: z.ZodObject;
  /** Whether the operation is not in the specification. A service lists its extensions in `/healthz`. */
  readonly extension?: true;
  /** Fields of the request that are not in the specification, by their names in programs. */
  readonly extensionFields?: readonly string[];
  /** Whether running the call twice has the same effect as running it once. */
  readonly repeatable: boolean;
}

/** Input of a call. Fields with a default are optional. */
export type Input<R extends Route> = z.input<R["request"]>;

/** Request that a handler receives, with defaults filled in. */
export type Request<R extends Route> = z.output<R["request"]>;

/** Reply that a caller receives. Fields that a service may omit are optional. */
export type Reply<R extends Route> = z.output<R["reply"]>;

/** Reply of the service in this package, with every field. */
export type FullReply<R extends Route> = Complete<Reply<R>>;

type Complete<T> = T extends readonly (infer E)[]
  ? Complete<E>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { [K in keyof T]-?: Complete<Exclude<T[K], undefined>> }
    : T;

/** Defines an operation. All methods except POST are repeatable by default. */
export function route<Request extends RequestSchema, Reply extends z.ZodType>(
  definition: Omit<Route<Request, Reply>, "repeatable"> & { readonly repeatable?: boolean },
): Route<Request, Reply> {
  return { repeatable: definition.method !== "POST", ...definition };
}
