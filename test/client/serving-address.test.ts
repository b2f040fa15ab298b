import { recommendItems } from "../../client/serving";
import { ServingAddresses } from "../../client/serving-address";
import { routes } from "../../contract";
import { type Answer, clientOf, reply, scriptedServer } from "./server";

test.each<[string, string, string | undefined]>([
  ["https://api.example.com/v1", "https://api.example.com/serving/p1", "https://api.example.com/serving/p1"],
  ["https://api.example.com/v1", "https://other.example.com/serving/p1", undefined],
  [
    "https://api.example.com/v1",
    "http://api.example.com:8080/serving/p1",
    "https://api.example.com/serving/p1",
  ],
  ["https://api.example.com/v1", "http://10.0.0.1/serving/p1", undefined],
  ["http://127.0.0.1:4000", "http://127.0.0.1:4001/serving/p1", undefined],
  ["https://api.example.com", "serving/p1", undefined],
])("a client of %s calls %s at %s", (baseUrl, servingUri, address) => {
  expect(new ServingAddresses(baseUrl).addressOf(servingUri)).toBe(address);
});

test("an address that the service names in a reply may be called, unless it gives up TLS", () => {
  const addresses = new ServingAddresses("https://api.example.com");
  addresses.learn({ projectId: "p1", servingUri: "https://serving.example.com/p1" });
  addresses.learn({ jobResult: { servingUri: "https://jobs.example.com/p1" } });
  addresses.learn({ jobResult: { servingUri: "http://clear.example.com/p1" } });
  addresses.learn({ jobResult: null, servingUri: 7 });
  expect(addresses.addressOf("https://serving.example.com/p2")).toBe("https://serving.example.com/p2");
  expect(addresses.addressOf("https://jobs.example.com/p1")).toBe("https://jobs.example.com/p1");
  expect(addresses.addressOf("http://clear.example.com/p1")).toBeUndefined();
});

describe("the credentials of a recommendation call", () => {
  const results = reply(200, { results: [] });
  const job = (servingUri: string): Answer =>
    reply(200, {
      job_id: "j1",
      job_type: "DEPLOYMENT",
      job_status: "SUCCEED",
      job_result: { serving_uri: servingUri },
    });

  test("go to the service and not to a serving address from elsewhere", async () => {
    const [service, other] = [await scriptedServer(results), await scriptedServer(results)];
    const { client } = clientOf(service);
    await recommendItems(client, { userId: "u1" }, `${other.url}/serving/p1`);
    expect([service.arrived.length, other.arrived.length]).toEqual([1, 0]);
    await Promise.all([client.close(), service.close(), other.close()]);
  });

  test("go to a separate serving host that the service has named to this client", async () => {
    const serving = await scriptedServer(results);
    const service = await scriptedServer(job(`${serving.url}/p1`));
    const { client } = clientOf(service);
    await client.call(routes.getJob, { projectId: "p1", jobId: "j1" });
    await recommendItems(client, { userId: "u1" }, `${serving.url}/p1`);
    expect(serving.arrived.map(({ path }) => path)).toEqual(["/p1/recommend-items-to-user"]);
    await Promise.all([client.close(), service.close(), serving.close()]);
  });

  test("are reported as withheld if the service has no deployment at its own address", async () => {
    const service = await scriptedServer(reply(404, { message: "no Route matched" }));
    const { client } = clientOf(service);
    await expect(recommendItems(client, { userId: "u1" }, "https://old.example.com/p1")).rejects.toThrow(
      "The call was not sent to https://old.example.com, because the credentials belong to another address.",
    );
    await Promise.all([client.close(), service.close()]);
  });
});
