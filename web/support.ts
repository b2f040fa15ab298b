import { RecommenderError } from "./errors.js";
import type { RecommenderOptions } from "./types.js";

/** Fields of a request that are not part of the specification, by the options that set them. */
const fields = {
  filter: "filter_query",
  exclude: "exclude_item_ids",
  include: "include_item_ids",
  events: "events",
} as const;

const similarPath = "/recommend-items-to-item";

/** Statuses of a service that does not know an operation or a field. */
const rejections: readonly (number | undefined)[] = [400, 404, 405, 422];

/** A call that a service may not support. */
interface Call {
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Finds out whether a call failed because the service does not support an option. */
export class Support {
  private extensions: Promise<ReadonlySet<string> | undefined> | undefined;

  private readonly base: string | undefined;

  constructor({ url, key }: Pick<RecommenderOptions, "url" | "key">) {
    // Only services with these extensions have public keys, and a page of another origin cannot read the list.
    this.base = key.startsWith("rp_") ? undefined : url.replace(/\/+$/, "").replace(/\/serving\/.*$/, "");
  }

  /** Throws if the service has ignored the filter. A service with filters returns it with the items. */
  checkFilter({ path, input }: Call, reply: { readonly filter_query?: unknown }): void {
    if (input[fields.filter] !== undefined && (reply.filter_query ?? null) === null)
      throw unsupported(path, ["filter"], 200);
  }

  /**
   * Returns the error for a call that the service has rejected. Only then reads which extensions it has, once, so calls
   * that succeed need no other request.
   */
  async explain({ path, input }: Call, error: RecommenderError): Promise<RecommenderError> {
    const { status } = error.more;
    if (this.base === undefined || !rejections.includes(status)) return error;
    this.extensions ??= readExtensions(this.base);
    const extensions = await this.extensions;
    if (!extensions) return error;
    if (path === similarPath) return extensions.has(path) ? error : unsupported(path, [], status);
    const missing = Object.entries(fields).flatMap(([option, field]) =>
      input[field] === undefined || extensions.has(`${path}#${field}`) ? [] : [option as keyof typeof fields],
    );
    return missing.length > 0 ? unsupported(path, missing, status) : error;
  }
}

function unsupported(
  path: string,
  options: readonly (keyof typeof fields)[],
  status: number | undefined,
): RecommenderError {
  const what = options.length > 0 ? `the option ${options.join(" and the option ")}` : "similar items";
  const names = options.length > 0 ? options.map((option) => `${path}#${fields[option]}`) : [path];
  return new RecommenderError(
    "UNSUPPORTED",
    `The service does not support ${what} (${names.join(", ")}). Leave it out, or use a service that supports it.`,
    { ...(status !== undefined && { status }) },
  );
}

/** Reads the extensions that a service lists. Undefined if it cannot be read, or something else has answered. */
async function readExtensions(base: string): Promise<ReadonlySet<string> | undefined> {
  try {
    const response = await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(5000) });
    if (!response.ok) return undefined;
    const { extensions } = (await response.json()) as { extensions?: unknown };
    return Array.isArray(extensions) ? new Set(extensions as string[]) : undefined;
  } catch {
    return undefined;
  }
}
