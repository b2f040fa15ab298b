import { type Answer, reply, scriptedServer } from "../../client/server";
import { DynamicProvider } from "../dynamic-provider";

const ended: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(ended.splice(0).map((end) => end())));

async function providerAt(baseUrl: string): Promise<DynamicProvider> {
  const config = { "recommender:baseUrl": baseUrl, "recommender:apiKey": "rk_the-key-of-the-service" };
  const provider = await DynamicProvider.start(config);
  ended.push(() => provider.stop());
  return provider;
}

async function serviceThat(...answers: Answer[]) {
  const service = await scriptedServer(...answers);
  ended.push(() => service.close());
  return service;
}

describe("a preview without a source of tokens", () => {
  test("requests one token per scope for all resources, and sends no other call", async () => {
    const service = await serviceThat(reply(200, { access_token: "t", expires_in: 3600 }));
    const provider = await providerAt(service.url);
    for (const numShards of [1, 2, 3])
      expect((await provider.check("EventDataset", { name: "n", numShards })).failures).toEqual([]);
    expect(service.arrived.map(({ path }) => path)).toEqual(["/oauth/token", "/oauth/token"]);
  });

  test("fails if the service issues no tokens, with the available settings and without the key", async () => {
    const service = await serviceThat(reply(404, { message: "no such path" }));
    const provider = await providerAt(service.url);
    const check = provider.check("EventDataset", { name: "n", numShards: 1 });
    const { message } = await check.then(
      () => new Error("it was accepted"),
      (error: Error) => error,
    );
    expect(message).toMatch(
      /\/oauth\/token did not issue a token .*\(404: no such path\)\. If the service does not issue tokens.*recommender:tokenUrl/,
    );
    expect(message).not.toContain("rk_the-key");
  });

  test("fails once for all resources if the service is unreachable, with the address first", async () => {
    const provider = await providerAt("http://127.0.0.1:9");
    const check = (name: string) =>
      provider.check("EventDataset", { name, numShards: 1 }).then(
        () => "it was accepted",
        (error: Error) => error.message.replace("2 UNKNOWN: ", ""),
      );
    const messages = await Promise.all(["one", "two", "three"].map(check));
    expect(messages[0]).toMatch(
      /^http:\/\/127\.0\.0\.1:9 refuses connections \(ECONNREFUSED\), tried for \d s\. Is the service running\? Check the address with `recommender whoami --stack \S+`\.$/,
    );
    for (const further of messages.slice(1))
      expect(further).toMatch(
        /^EventDataset \w+: the service cannot be reached; see the error of EventDataset one$/,
      );
  });
});
