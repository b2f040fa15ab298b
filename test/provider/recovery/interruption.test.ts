import { Client, fixedToken } from "../../../client/client";
import { isOf } from "../../../provider/recovery/earlier-run";
import type { Entry } from "../../../provider/recovery/journal";

test("what was written down for an embedded service is known by its data, at whatever port it listens", async () => {
  const baseUrl = "http://127.0.0.1:9";
  const client = new Client({ baseUrl, apiKey: "k", token: fixedToken("t"), instanceId: "instance-1" });
  const isIts = (service: string) => isOf({ service } as Entry, client);
  expect(isIts("embedded:instance-1")).toBe(true);
  expect(isIts("embedded:instance-2")).toBe(false);
  // Older versions wrote down the address.
  expect(isIts(baseUrl)).toBe(true);
  await client.close();
});
