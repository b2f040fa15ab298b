import { explicitProviderOf, providerSettings } from "../../../cli/stack/providers";

const urn = (type: string, name: string) => `urn:pulumi:dev::shop::${type}::${name}`;
const provider = (name: string) => `${urn("pulumi:providers:recommender", name)}::0c4a`;
const resource = (name: string) => ({ urn: urn("recommender:index:Model", "m"), provider: provider(name) });
const secret = (value: string) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});
const state = [
  {
    urn: urn("pulumi:providers:recommender", "eu"),
    type: "pulumi:providers:recommender",
    inputs: { baseUrl: "https://eu.example.com", apiKey: secret("k-eu"), parallel: 2, version: "0.1.0" },
  },
];

describe("the service of a resource", () => {
  test.each([
    undefined,
    provider("default"),
    provider("default_0_1_0"),
    "urn:pulumi:dev::shop::pulumi:providers:pulumi-nodejs::default::1",
  ])("comes from the stack for the provider %s", (own) => {
    expect(explicitProviderOf(own === undefined ? {} : { provider: own })).toBeUndefined();
  });

  test("comes from an explicit provider, with its secrets and without credentials of the environment", () => {
    const environment = { RECOMMENDER_API_KEY: "k-env", RECOMMENDER_ACCESS_TOKEN: "t-env" };
    const settings = providerSettings(resource("eu"), state, { environment, programDirectory: "/shop" });
    expect(settings).toMatchObject({ baseUrl: "https://eu.example.com", apiKey: "k-eu", parallel: 2 });
    expect(settings?.accessToken).toBeUndefined();
  });

  test("comes from an explicit provider whose name starts with default", () => {
    expect(explicitProviderOf(resource("default_eu"))).toBe(
      urn("pulumi:providers:recommender", "default_eu"),
    );
  });

  test("is an error if the state has no such provider", () => {
    const open = { environment: {}, programDirectory: "/shop" };
    expect(() => providerSettings(resource("us"), state, open)).toThrow(
      /The state has no provider us, which urn.* uses/,
    );
  });
});
