import { Client, fixedToken } from "../../../client/client";
import { isOfService, serviceIn } from "../../../provider/recovery/earlier-run";
import type { JournalEntry } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider } from "../dynamic-provider";

test("what was written down for an embedded service is known by its data, at whatever port it listens", async () => {
  const baseUrl = "http://127.0.0.1:9";
  const client = new Client({ baseUrl, apiKey: "k", token: fixedToken("t"), instanceId: "instance-1" });
  const isIts = (service: string) => isOfService({ service } as JournalEntry, client);
  expect(isIts(serviceIn(client))).toBe(true);
  // Addresses may be secret.
  expect(serviceIn(client)).toMatch(/^[0-9a-f]{32}$/);
  expect(isIts("embedded:instance-1")).toBe(true);
  expect(isIts("embedded:instance-2")).toBe(false);
  // Older versions wrote down the address.
  expect(isIts(baseUrl)).toBe(true);
  await client.close();
});

test("a provider's process begins nothing after its engine was killed, and then ends", async () => {
  const observed = await ObservedService.start();
  const provider = await DynamicProvider.start(observed.config);
  provider.killEngine();
  observed.calls();
  const orphaned = provider.create("UserDataset", { name: "orphaned", numShards: 1 });
  await expect(orphaned).rejects.toThrow(/the Pulumi engine has exited, so nothing new is created/);
  expect(observed.calls()).not.toContain("POST /create-user-dataset");
  await provider.ended();
  await observed.close();
});
