import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { ServiceError, shortened } from "../base/error";
import { networkOf } from "../base/network";
import type { ServiceContext } from "../files/service-context";
import { type PublicKey, publicIdIn, publicKeyOf } from "../store/clients";
import { CallerLimits } from "./caller-limits";

/** Maximum number of callers whose calls are counted at the same time. Each takes about 300 bytes. */
const maxCallers = 50_000;

/** Maximum number of keys whose limits are known without a read of the database. */
const maxKeys = 1000;

/** Maximum calls per second of an address with keys that this process has not seen yet. */
const unknownQps = 20;

/** Everything that the check of public keys needs from the service. */
interface PublicKeyContext extends Pick<ServiceContext, "store" | "clock" | "options"> {
  /** Returns the share of the rate limits that this process may use. */
  readonly share: () => number;
}

/**
 * Checks calls with public keys, which come from web pages. A call needs no token, because everybody can read the key.
 * What it may do is limited instead: to recommendations of one project, to pages of some origins, and in number.
 */
export class PublicKeys {
  private readonly known = new LRUCache<string, PublicKey>({ max: maxKeys });
  private readonly callers: CallerLimits;
  private readonly totals: CallerLimits;

  constructor(private readonly context: PublicKeyContext) {
    this.callers = new CallerLimits(maxCallers, context.clock, context.share);
    this.totals = new CallerLimits(maxKeys, context.clock, context.share);
  }

  /** Returns the key of a call to a recommendation operation, if the call is allowed. */
  async check({ headers, ip }: FastifyRequest): Promise<PublicKey> {
    const { store, options } = this.context;
    const { origin } = headers;
    if (origin === undefined)
      throw new ServiceError(
        "FORBIDDEN",
        "A public key can only be used by web pages, whose browser sends the header Origin. For calls from a server, " +
          "create a client with `recommender clients add NAME --scopes recommend`.",
      );
    const key = String(headers.apikey);
    const id = publicIdIn(key) as string;
    // Refuses callers with too many calls before the database is read.
    this.count(this.known.get(id), networkOf(ip));
    const found = await publicKeyOf(store.db, key);
    if (!found) {
      this.known.delete(id);
      throw new ServiceError(
        "UNAUTHENTICATED",
        "The public key is wrong or was revoked. `recommender clients list` shows the keys, and `recommender clients " +
          "add` creates one.",
      );
    }
    this.known.set(id, found);
    if (![...found.pages.origins, ...options.allowedOrigins].includes(origin))
      throw new ServiceError("FORBIDDEN", wrongOrigin(found, shortened(origin)));
    this.countTotal(found);
    return found;
  }

  /** Counts a call from a network. All unknown keys share one limit, so guessing keys is limited too. */
  private count(key: PublicKey | undefined, network: string): void {
    const qps = key?.pages.addressQps ?? unknownQps;
    this.callers.count(
      `${key?.id} ${network}`,
      qps,
      `Calls from your address are limited to ${qps} per second.`,
    );
  }

  private countTotal({ id, name, pages: { keyQps } }: PublicKey): void {
    if (keyQps === null) return;
    const message = `The public key ${name} is limited to ${keyQps} calls per second from all pages together.`;
    this.totals.count(id, keyQps, message);
  }
}

/** The message does not name the other origins of the key, because some may be internal. */
function wrongOrigin({ name }: PublicKey, origin: string): string {
  const reason = `The public key ${name} cannot be used by pages of ${origin}.`;
  if (origin === "null")
    return `${reason} Browsers send this origin for files and sandboxed frames. Open the page from a web server.`;
  return (
    `${reason} An operator can add this origin to those that \`recommender clients list\` shows, with ` +
    `\`recommender clients update ${name} --origins\`.`
  );
}
