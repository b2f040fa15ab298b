import { request } from "undici";
import type { Service } from "../../service";

/** The address and the key of a service. */
export type Address = Pick<Service, "url" | "key">;

function post({ url }: Address, path: string, headers: object, body: object) {
  const json = { "content-type": "application/json" };
  return request(url + path, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
  });
}

/** Creates a sign-in code for the console. */
export async function codeOf(service: Address): Promise<string> {
  const { body } = await post(service, "/console/code", { apikey: service.key }, {});
  return ((await body.json()) as { code: string }).code;
}

/** Signs in, and returns the headers of the session. */
export async function signIn(service: Address): Promise<Record<string, string>> {
  const opened = await post(
    service,
    "/console/session",
    { origin: service.url },
    { code: await codeOf(service) },
  );
  const [cookie = ""] = String(opened.headers["set-cookie"]).split(";");
  return { cookie, "x-console-token": ((await opened.body.json()) as { token: string }).token };
}

/** Returns a token for API calls. */
export async function tokenOf({ url, key }: Address, scope = "/recommend-items-to-user"): Promise<string> {
  const client = { client_id: "bench", client_secret: key };
  const { body } = await request(`${url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: "client_credentials", ...client, scope }).toString(),
  });
  return ((await body.json()) as { access_token: string }).access_token;
}

/** Creates a shop with 200 users and 300 items. */
export function shop() {
  return {
    name: "bench",
    targetEventType: "purchase",
    events: Array.from({ length: 4000 }, (_, at) => ({
      userId: `u${at % 200}`,
      itemId: `i${(at * 7 + (at % 13)) % 300}`,
      ts: 1_700_000_000_000 + at * 1000,
      eventType: "purchase",
    })),
    qps: 1_000_000,
  };
}
