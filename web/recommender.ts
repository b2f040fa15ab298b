import { notFromService, RecommenderError } from "./errors.js";
import { KeptLists } from "./kept-lists.js";
import { Support } from "./support.js";
import { Transport } from "./transport.js";
import type {
  KeptIn,
  Recommendations,
  RecommendedItem,
  RecommenderOptions,
  RecommendOptions,
  Source,
} from "./types.js";

/**
 * Settings for pages that must not wait or fail: 150 ms, no retries, and an earlier or the popular list if the service
 * does not answer in time.
 */
export const forPages = { timeoutMs: 150, retries: 0, fallBack: true } as const;

/** Limits of calls that nobody waits for any more: their maximum time, and their maximum number. */
const [lateMs, maxLate] = [10_000, 8];

/** The popular list is read again after this part of its maximum age. */
const popularPart = 0.25;

/** Number of popular items that are read in addition to those that a call wants, because it may exclude some. */
const spare = 20;

/** First pause before a retry in milliseconds. Each further pause is twice as long. */
const pauseMs = 200;

/** A call to the service. */
interface Question {
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Identifies calls that may get the same list. */
  readonly id: string;
}

/** The response of the service to a call. */
interface Reply {
  readonly filter_query?: unknown;
  readonly results: readonly {
    readonly item: { readonly item_id: string } & Readonly<Record<string, unknown>>;
  }[];
}

/** Gets recommendations, in a browser or on a server. */
export class Recommender {
  private readonly transport: Transport;
  private readonly support: Support;
  private readonly lists: KeptLists;
  private readonly timeoutMs: number;
  private readonly retries: number;
  private readonly fallBack: boolean;
  private readonly reading = new Set<string>();
  private late = 0;

  constructor(private readonly options: RecommenderOptions) {
    this.transport = new Transport(options);
    this.support = new Support(options);
    const { storage = browserStorage(), keepMs = 60 * 60 * 1000 } = options;
    this.lists = new KeptLists(storage, keepMs);
    this.timeoutMs = options.timeoutMs ?? 10_000;
    this.retries = options.retries ?? 2;
    this.fallBack = options.fallBack ?? false;
  }

  /** Returns items for a user, or for a visitor without an id, who may have events of the current visit. */
  async recommend(
    userId: string | null | undefined,
    options: RecommendOptions = {},
  ): Promise<Recommendations> {
    const { events } = options;
    const who = userId ?? null;
    // Without an id, only a visitor with the same events gets the same list.
    const id = who === null ? ["visit", events ?? []] : ["user", who];
    return this.answer(
      this.question("/recommend-items-to-user", id, options, userFields(who, events)),
      options,
    );
  }

  /** Returns items that are similar to the given ones. */
  async similar(itemIds: readonly string[], options: RecommendOptions = {}): Promise<Recommendations> {
    const fields = { item_ids: itemIds, ...(options.events && { events: eventsOf(options.events) }) };
    // The service leaves out the given items. Other lists may contain them.
    const exclude = [...(options.exclude ?? []), ...itemIds];
    return this.answer(this.question("/recommend-items-to-item", ["items", itemIds], options, fields), {
      ...options,
      exclude,
    });
  }

  /**
   * Reads the popular items that match the filter, and keeps them for calls that fail. A server should call this when it
   * starts. Otherwise the list is read in the background of the first call.
   */
  async prepare(options: RecommendOptions = {}): Promise<readonly RecommendedItem[]> {
    const { limit = 10, ...others } = options;
    const wanted = { ...others, limit: Math.min(limit + spare, 1000) };
    const { path, input, id } = this.popular(wanted);
    const items = await this.call(path, input, AbortSignal.timeout(lateMs));
    this.lists.keep(id, items);
    return items;
  }

  private popular(options: RecommendOptions): Question {
    const { exclude: _, ...others } = options;
    return this.question("/recommend-items-to-user", ["popular"], others, userFields(null, []));
  }

  private question(
    path: string,
    who: readonly unknown[],
    options: RecommendOptions,
    fields: object,
  ): Question {
    const { limit = 10, filter, exclude, include, attributes = [] } = options;
    const input = {
      ...fields,
      limit,
      attributes,
      ...(filter && { filter_query: filter }),
      ...(exclude && exclude.length > 0 && { exclude_item_ids: exclude }),
      ...(include && { include_item_ids: include }),
    };
    const id = JSON.stringify([this.options.url, ...who, filter ?? null, include ?? null, attributes]);
    return { path, input, id };
  }

  private async answer(question: Question, options: RecommendOptions): Promise<Recommendations> {
    try {
      const items = await this.askInTime(question);
      return { items, source: "service" };
    } catch (error) {
      if (!this.fallBack || !(error instanceof RecommenderError)) throw error;
      return { ...this.fallenBack(question, options), error };
    } finally {
      if (this.fallBack) this.readPopular(options);
    }
  }

  /** Asks the service. An answer that arrives too late is kept for the next call. */
  private async askInTime(question: Question): Promise<readonly RecommendedItem[]> {
    const control = new AbortController();
    const asked = this.ask(question, control.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const fail = () => {
        reject(new RecommenderError("TIMEOUT", `The service did not answer within ${this.timeoutMs} ms.`));
        if (this.fallBack && this.late < maxLate) this.finishLate(asked, control);
        else control.abort();
      };
      timer = setTimeout(fail, this.timeoutMs);
    });
    try {
      return await Promise.race([asked, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  private finishLate(asked: Promise<unknown>, control: AbortController): void {
    this.late++;
    const timer = setTimeout(() => control.abort(), lateMs);
    const end = () => {
      this.late--;
      clearTimeout(timer);
    };
    asked.then(end, end);
  }

  private async ask({ path, input, id }: Question, signal: AbortSignal): Promise<readonly RecommendedItem[]> {
    const until = Date.now() + this.timeoutMs;
    for (let attempt = 0; ; attempt++)
      try {
        const items = await this.call(path, input, signal);
        if (this.fallBack) this.lists.keep(id, items);
        return items;
      } catch (error) {
        const { isTransient, more } = error as RecommenderError;
        const waitMs = (more?.retryAfterMs ?? 0) + Math.random() * pauseMs * 2 ** attempt;
        if (attempt >= this.retries || !isTransient || Date.now() + waitMs >= until) throw error;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
  }

  private async call(
    path: string,
    input: Question["input"],
    signal: AbortSignal,
  ): Promise<readonly RecommendedItem[]> {
    try {
      const body = (await this.transport.post(path, input, signal)) as Reply;
      const items = body.results.map(({ item: { item_id: itemId, ...attributes } }) => {
        if (typeof itemId !== "string") throw new TypeError("An item has no item_id.");
        return { itemId, attributes };
      });
      this.support.checkFilter({ path, input }, body);
      return items;
    } catch (error) {
      // Anything else went wrong while reading a response, for example because a gateway answered.
      if (!(error instanceof RecommenderError)) throw notFromService(error);
      throw await this.support.explain({ path, input }, error);
    }
  }

  private fallenBack(
    { id }: Question,
    options: RecommendOptions,
  ): { items: readonly RecommendedItem[]; source: Source } {
    const { limit = 10, exclude = [], otherwise = [] } = options;
    const without = new Set(exclude);
    const chosen = (items: readonly RecommendedItem[] | undefined) =>
      (items ?? []).filter(({ itemId }) => !without.has(itemId)).slice(0, limit);
    const named = otherwise.map((itemId) => ({ itemId, attributes: {} }));
    const lists: readonly [Source, readonly RecommendedItem[]][] = [
      ["last", chosen(this.lists.find(id))],
      ["popular", chosen(this.lists.find(this.popular(options).id))],
      ["otherwise", chosen(named)],
    ];
    const [source, items] = lists.find(([, found]) => found.length > 0) ?? ["none", []];
    return { items, source };
  }

  /** Reads the popular list in the background, for later calls. */
  private readPopular(options: RecommendOptions): void {
    const { id } = this.popular(options);
    if (this.reading.has(id) || this.lists.isFresh(id, popularPart)) return;
    this.reading.add(id);
    this.prepare(options)
      .catch(() => undefined)
      .finally(() => this.reading.delete(id));
  }
}

function userFields(userId: string | null, events: RecommendOptions["events"]): object {
  // A call without a user must have events, even if there are none.
  const visit = events ?? (userId === null ? [] : undefined);
  return { ...(userId !== null && { user_id: userId }), ...(visit && { events: eventsOf(visit) }) };
}

function eventsOf(events: NonNullable<RecommendOptions["events"]>): object[] {
  return events.map(({ itemId, eventType, eventValue }) => ({
    item_id: itemId,
    ...(eventType !== undefined && { event_type: eventType }),
    ...(eventValue !== undefined && { event_value: eventValue }),
  }));
}

/** Returns the storage of the browser. Reading the property fails if the user has forbidden cookies. */
function browserStorage(): KeptIn | null {
  try {
    // Newer versions of Node have a storage too, which all visitors of a server would share.
    const { document, sessionStorage } = globalThis as { document?: unknown; sessionStorage?: KeptIn };
    return document === undefined ? null : (sessionStorage ?? null);
  } catch {
    return null;
  }
}
