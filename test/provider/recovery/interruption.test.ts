import { Client, fixedToken } from "../../../client/client";
import { isOfService, serviceIn } from "../../../provider/recovery/earlier-run";
import type { JournalEntry } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider } from "../dynamic-provider";

test("an entry of an embedded service is recognized by its data, on any port", async () => {
  const baseUrl = "http://127.0.0.1:9";
  const client = new Client({ baseUrl, apiKey: "k", token: fixedToken("t"), instanceId: "instance-1" });
  const isIts = (service: string) => isOfService({ service } as JournalEntry, client);
  expect(isIts(serviceIn(client))).toBe(true);
  // Addresses may be secret.
  expect(serviceIn(client)).toMatch(/^[0-9a-f]{32}$/);
  expect(isIts("embedded:instance-1")).toBe(true);
  expect(isIts("embedded:instance-2")).toBe(false);
  // Older versions recorded the address.
  expect(isIts(baseUrl)).toBe(true);
  await client.close();
});

test("a provider process creates nothing after its engine was killed, and exits", async () => {
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
