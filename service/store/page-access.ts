import { parseOrigin, stableAddress } from "../../contract/origin";
import { shortened } from "../base/error";
import { scopeGroups } from "../base/scopes";
import { webOrigin } from "../base/web-origin";
import type { Db } from "./database";

/** What web pages may do with a public key. Everybody who opens such a page can read the key. */
export interface PageAccess {
  /** Id of the only project that answers, or `stack/PROJECT/STACK/RESOURCE` for the deployment of a stack. */
  readonly project: string;
  /** Origins of the pages. */
  readonly origins: readonly string[];
  /** Item attributes that pages may read and filter by. */
  readonly attributes: readonly string[];
  /** Maximum calls per second from one address. */
  readonly addressQps: number;
  /** Maximum calls per second from all addresses together. Null for no limit except that of the deployment. */
  readonly keyQps: number | null;
}

/** Settings of a public key. */
export type PageSettings = Pick<PageAccess, "project" | "origins"> & Partial<PageAccess>;

/** Scopes of public keys. They cannot have any others. */
export const pageScopes: readonly string[] = scopeGroups.recommend ?? [];

/** Default of the limit for one address. Enough for a page with several lists. */
const defaultAddressQps = 10;

/** Checks the settings of a public key, and fills in the defaults. */
export async function pageAccess(db: Db, settings: PageSettings): Promise<PageAccess> {
  const { attributes = [], addressQps = defaultAddressQps, keyQps = null } = settings;
  const origins = [...new Set(settings.origins.map(webOrigin))];
  if (origins.length === 0)
    throw new Error(
      "A public key needs the origins of the pages that contain it, such as https://shop.example.com.",
    );
  return {
    project: await knownProject(db, settings.project),
    origins,
    attributes: [...new Set(attributes)],
    addressQps,
    keyQps,
  };
}

/** Accepts the id of a project, the path of a stable address, or the `serving_uri` that contains one of them. */
async function knownProject(db: Db, given: string): Promise<string> {
  const path = given.replace(/^https?:\/\/.*?\/serving\//, "").replace(/\/$/, "");
  const [, names = ""] = /^stack\/([^/]+\/[^/]+\/[^/]+)$/.exec(path) ?? [];
  const stack = parseOrigin(names);
  // The deployment of a stack may not exist yet. Calls find it by the encoded form of its names.
  if (stack) return `stack/${stableAddress(stack)}`;
  const found = await db.selectFrom("projects").select("id").where("id", "=", path).executeTakeFirst();
  if (found) return path;
  throw new Error(
    `There is no project ${JSON.stringify(shortened(given))}. Pass the id of a project, or the serving_uri or ` +
      "stable_serving_uri of its deployment.",
  );
}
