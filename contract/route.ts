import type { z } from "zod";

/** What a request may be: an object, or one of several objects distinguished by one field. */
export type RequestSchema = z.ZodObject | z.ZodDiscriminatedUnion;

/** One operation of the API. */
export interface Route<Request extends RequestSchema = RequestSchema, Reply extends z.ZodType = z.ZodType> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path under the base address; also the scope of the token that the call needs. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly request: Request;
  readonly reply: Reply;
  /** Headers beyond the specification by which a caller asks for more, under their names in lower case. */
  readonly headers?: z.ZodObject;
  /** Whether the operation goes beyond the specification. A service lists those it has as `extensions` in `/healthz`. */
  readonly extension?: true;
  /** Whether carrying the call out twice leaves the service as carrying it out once. */
  readonly repeatable: boolean;
}

/** What a caller gives; fields with a default may be left out. */
export type Input<R extends Route> = z.input<R["request"]>;

/** What a handler receives: the request with its defaults filled in. */
export type Request<R extends Route> = z.output<R["request"]>;

/** What a caller gets; whatever a service may leave out is optional. */
export type Reply<R extends Route> = z.output<R["reply"]>;

/** What our own service answers: every field of the reply, none left out. */
export type FullReply<R extends Route> = Complete<Reply<R>>;

type Complete<T> = T extends readonly (infer E)[]
  ? Complete<E>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { [K in keyof T]-?: Complete<Exclude<T[K], undefined>> }
    : T;

/** Defines an operation; everything but POST is repeatable unless it says otherwise. */
export function route<Request extends RequestSchema, Reply extends z.ZodType>(
  definition: Omit<Route<Request, Reply>, "repeatable"> & { readonly repeatable?: boolean },
): Route<Request, Reply> {
  return { repeatable: definition.method !== "POST", ...definition };
}
