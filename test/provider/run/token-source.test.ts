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
  test("asks the service for a token once, however many resources there are, and makes no other call", async () => {
    const service = await serviceThat(reply(200, { access_token: "t", expires_in: 3600 }));
    const provider = await providerAt(service.url);
    for (const numShards of [1, 2, 3])
      expect((await provider.check("EventDataset", { name: "n", numShards })).failures).toEqual([]);
    expect(service.arrived.map(({ path }) => path)).toEqual(["/oauth/token"]);
  });

  test("fails where the service gives none, with the settings that there are and without the key", async () => {
    const service = await serviceThat(reply(404, { message: "no such path" }));
    const provider = await providerAt(service.url);
    const check = provider.check("EventDataset", { name: "n", numShards: 1 });
    const { message } = await check.then(
      () => new Error("it was accepted"),
      (error: Error) => error,
    );
    expect(message).toMatch(
      /No source of access tokens is set, .*\/oauth\/token refused .*404 no such path.*recommender:tokenUrl/,
    );
    expect(message).not.toContain("rk_the-key");
  });

  test("goes on where nobody answers: a change that needs the service finds out", async () => {
    const provider = await providerAt("http://127.0.0.1:9");
    expect((await provider.check("EventDataset", { name: "n", numShards: 1 })).failures).toEqual([]);
  });
});
