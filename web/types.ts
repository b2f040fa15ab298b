/** Settings of a {@link Recommender}. */
export interface RecommenderOptions {
  /** Address of the service, or the `servingUri` or `stableServingUri` of a deployment. */
  readonly url: string;
  /** In a page, a public key (`rp_…`). On a server, the secret of a client. */
  readonly key: string;
  /** Name of the client, if `key` is its secret. */
  readonly clientId?: string;
  /** Where to get tokens, if `key` is a secret. Default: `/oauth/token` of the service. */
  readonly tokenUrl?: string;
  /** Maximum time of a call in milliseconds, with all its retries. Default: 10,000. */
  readonly timeoutMs?: number;
  /** How often a call is repeated if the service is overloaded or cannot be reached. Default: 2. */
  readonly retries?: number;
  /** Whether a failed call returns an earlier or the popular list instead of an error. Default: false. */
  readonly fallBack?: boolean;
  /** How long an earlier list may be used, in milliseconds. Default: one hour. */
  readonly keepMs?: number;
  /**
   * Where earlier lists are kept, in addition to memory. Default: the `sessionStorage` of the browser, which it clears
   * when the tab is closed. Set it to null to keep them in memory only, until the page is left.
   */
  readonly storage?: KeptIn | null;
}

/** The part of the browser's `Storage` that is used. */
export interface KeptIn {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

/** An event of the current visit. */
export interface VisitEvent {
  readonly itemId: string;
  /** Default: the target event type of the project. */
  readonly eventType?: string;
  /** Default: 1. */
  readonly eventValue?: number;
}

/** Options of a call. */
export interface RecommendOptions {
  /** Maximum number of items. Default: 10. */
  readonly limit?: number;
  /** Recommends only items for which this expression is true, as in `item.in_stock == "yes"`. */
  readonly filter?: string;
  /** Never recommends these items. */
  readonly exclude?: readonly string[];
  /** Recommends only some of these items. */
  readonly include?: readonly string[];
  /** Events of the current visit. They count for this call, and are not stored. */
  readonly events?: readonly VisitEvent[];
  /** Item attributes to return. Default: none. */
  readonly attributes?: readonly string[];
  /**
   * Items to return if the call fails and there is neither an earlier nor a popular list. They are not filtered, so list
   * only items that everybody may see.
   */
  readonly otherwise?: readonly string[];
}

/** A recommended item. */
export interface RecommendedItem {
  readonly itemId: string;
  /** The requested attributes, by name. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/**
 * Where a list comes from:
 * - `service`: the answer to this call,
 * - `last`: the last answer to the same question,
 * - `popular`: popular items that match the filter,
 * - `otherwise`: the items that the call names,
 * - `none`: there is nothing to show.
 */
export type Source = "service" | "last" | "popular" | "otherwise" | "none";

/** The answer to a call. */
export interface Recommendations {
  /** Best first. */
  readonly items: readonly RecommendedItem[];
  readonly source: Source;
  /** Why the service did not answer, if `source` is not `service`. */
  readonly error?: import("./errors.js").RecommenderError;
}
