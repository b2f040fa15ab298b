import { ManualClock } from "../../../service";
import { Running } from "../running";
import { codeOf, exchange, signIn } from "../visitor";

const json = { "content-type": "application/json" };

test("a session that one process opened is known to all, and ends in all", async () => {
  const running = await Running.start();
  const headers = await signIn(running);
  const look = async () => (await running.raw("/console/api/overview", { headers })).status;
  // Where there are two processes, each call goes to the other one.
  expect([await look(), await look()]).toEqual([200, 200]);
  await running.raw("/console/session", {
    method: "DELETE",
    headers: { ...headers, origin: running.service.url },
  });
  expect([await look(), await look()]).toEqual([401, 401]);
  await running.end();
});

test("a code opens one session, within a minute, from the page itself", async () => {
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
  expect((await exchange(running, late)).status).toBe(401);
  const { status } = await running.raw("/console/code", {
    method: "POST",
    headers: { ...json, apikey: "rk_wrong" },
    body: "{}",
  });
  expect(status).toBe(401);
  await running.end();
});
