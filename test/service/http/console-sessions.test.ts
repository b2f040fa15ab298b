import { request } from "undici";
import { startService, withClients } from "../../../service";
import { testOnPostgres } from "../database";
import { ManualClock } from "../manual-clock";
import { Caller, Running } from "../running";
import { codeOf, exchange, signIn } from "../visitor";

const json = { "content-type": "application/json" };

test("a session is valid in all processes of a service, and ends in all", async () => {
  const running = await Running.start();
  const headers = await signIn(running);
  const look = async () => (await running.raw("/console/api/overview", { headers })).status;
  // With two processes, the calls alternate between them.
  expect([await look(), await look()]).toEqual([200, 200]);
  await running.raw("/console/session", {
    method: "DELETE",
    headers: { ...headers, origin: running.service.url },
  });
  expect([await look(), await look()]).toEqual([401, 401]);
  await running.end();
});

test("a code opens one session, within a minute, and only from the page itself", async () => {
  const clock = new ManualClock();
  const running = await Running.start({ clock });
  const code = await codeOf(running);
  const foreign = await running.raw("/console/session", {
    method: "POST",
    headers: { ...json, origin: "http://evil.test" },
    body: JSON.stringify({ code }),
  });
  expect(foreign.status).toBe(403);
  expect((await exchange(running, code)).status).toBe(200);
  expect((await exchange(running, code)).status).toBe(401);
  const late = await codeOf(running);
  clock.advance(60_000);
  // With PostgreSQL, the clock of the database decides.
  if (running.options.store !== undefined)
    await running.ask("update console_sessions set expires_ts = expires_ts - 60000");
  expect((await exchange(running, late)).status).toBe(401);
  const { status } = await running.raw("/console/code", {
    method: "POST",
    headers: { ...json, apikey: "rk_wrong" },
    body: "{}",
  });
  expect(status).toBe(401);
  await running.end();
});

testOnPostgres("a code is valid in a process whose clock is wrong", async () => {
  const running = await Running.start();
  const clock = new ManualClock(Date.now() + 50 * 60_000);
  const other = await startService({ ...running.options, clock });
  const caller = new Caller({ url: other.url, key: other.key });
  expect((await exchange(caller, await codeOf(running))).status).toBe(200);
  expect((await exchange(running, await codeOf(caller))).status).toBe(200);
  await caller.close();
  await other.close();
  await running.end();
});

test("live updates end with the session, and when the client is revoked", async () => {
  const running = await Running.start();
  const { store } = running.options;
  const place = store === undefined ? { dataDir: running.service.dataDir } : { store };
  const { secret } = await withClients(place, (all) => all.add("looker", ["/status"]));
  const ends = {
    "the key": (headers: Record<string, string>) =>
      running.raw("/console/session", {
        method: "DELETE",
        headers: { ...headers, origin: running.service.url },
      }),
    "a client": () => withClients(place, (all) => all.revoke("looker")),
  };
  for (const [name, end] of Object.entries(ends)) {
    const headers = await signIn(running, {}, name === "a client" ? secret : undefined);
    const { body } = await request(`${running.service.url}/console/api/live`, { headers });
    const lines: string[] = [];
    for await (const line of body) {
      lines.push(String(line));
      if (lines.length === 1) await end(headers);
    }
    expect(lines).toHaveLength(1);
    expect((await running.raw("/console/api/live", { headers })).status).toBe(401);
  }
  await running.end();
});

test("a client sees only what its scopes allow, and errors name the missing scope", async () => {
  const running = await Running.start();
  const { store } = running.options;
  const place = store === undefined ? { dataDir: running.service.dataDir } : { store };
  const visitorWith = async (name: string, scopes: string[]) => {
    const { secret } = await withClients(place, (all) => all.add(name, scopes));
    return signIn(running, {}, secret);
  };
  const visitors = {
    monitor: await visitorWith("monitor", ["/status"]),
    reader: await visitorWith("reader", ["read", "metrics"]),
    shop: await visitorWith("shop", ["recommend", "metrics"]),
  };
  const views = {
    none: ["overview", "jobs", "models", "model", "serving"],
    "/get-event-dataset": ["asking", "dataset", "records", "record", "suggest"],
    "/get-job": ["job", "result"],
    "/recommend-items-to-user": ["compare", "try"],
  };
  for (const [scope, names] of Object.entries(views))
    for (const name of names)
      for (const [client, headers] of Object.entries(visitors)) {
        const how = {
          method: "POST",
          headers: { ...headers, ...json, origin: running.service.url },
          body: "{}",
        };
        const asked = await running.raw(`/console/api/${name}?id=x`, name === "try" ? how : { headers });
        const allowed = {
          monitor: "none",
          reader: "/get-event-dataset /get-job",
          shop: "/recommend-items-to-user",
        };
        const isAllowed = scope === "none" || allowed[client as "shop"].includes(scope);
        expect([client, name, asked.status === 403]).toEqual([client, name, !isAllowed]);
        if (!isAllowed)
          expect(asked.text).toContain(`The client ${client} does not have the scope ${scope}.`);
      }
  await running.end();
});

test("tabs of one browser have separate sessions, even if another port sets the same cookie", async () => {
  const running = await Running.start();
  const headers = { ...json, origin: running.service.url };
  const opened = async (cookie = "") => {
    const body = JSON.stringify({ code: await codeOf(running) });
    const answer = await running.raw("/console/session", {
      method: "POST",
      headers: { ...headers, cookie },
      body,
    });
    const [pair = "", ...others] = [answer.answered["set-cookie"] ?? []]
      .flat()
      .map((one) => one.split(";")[0]);
    return { pair, others, token: answer.body.token as string };
  };
  const one = await opened();
  const two = await opened(one.pair);
  const [name = ""] = one.pair.split("=");
  const cookie = `${name}=of-another-port; ${one.pair}; ${two.pair}`;
  const look = async (token: string, of = cookie) =>
    (await running.raw("/console/api/overview", { headers: { cookie: of, "x-console-token": token } }))
      .status;
  expect([await look(one.token), await look(two.token)]).toEqual([200, 200]);
  // The token of one session does not work with the cookie of another.
  expect(await look(two.token, one.pair)).toBe(401);
  await running.raw("/console/session", {
    method: "DELETE",
    headers: { origin: running.service.url, cookie, "x-console-token": one.token },
  });
  expect([await look(one.token), await look(two.token)]).toEqual([401, 200]);
  // The oldest cookies expire before the header gets too long.
  const many = Array.from({ length: 21 }, (_, at) => `${name.slice(0, -8)}${at}=x`);
  expect((await opened(`theirs=1; ${many.join("; ")}`)).others).toEqual(
    [many[0], many[1]].map((old) => old?.slice(0, -1)),
  );
  const odd = { method: "POST", headers, body: JSON.stringify({ code: { toString: 1 } }) };
  expect((await running.raw("/console/session", odd)).status).toBe(401);
  await running.end();
});
