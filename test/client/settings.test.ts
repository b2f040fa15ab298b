import { clearTextWarning, environmentName, readSettings, SettingsError } from "../../client/settings";

const complete = { baseUrl: "https://api.example.com", apiKey: "k", accessToken: "t" };

function read(stack: Record<string, string>, environment: NodeJS.ProcessEnv = {}) {
  return readSettings((key) => stack[key], environment);
}

function complaint(stack: Record<string, string>, environment: NodeJS.ProcessEnv = {}): string {
  try {
    read(stack, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message;
  }
  throw new Error("nothing was complained about");
}

describe("configuration", () => {
  test("of nothing at all means the embedded service in .recommender", () => {
    expect(read({})).toMatchObject({ baseUrl: "embedded:.recommender", jobPollMs: 1000, parallel: 64 });
  });

  test.each(["CI", "TF_BUILD", "JENKINS_URL"])(
    "without an address is refused on a CI runner, by %s",
    (name) => {
      const runner = { [name]: "true" };
      const words = complaint({}, runner);
      expect(words).toMatch(/recommender:baseUrl is not set, and this is a CI runner/);
      expect(words).toMatch(/RECOMMENDER_BASE_URL.*`pulumi config set recommender:baseUrl embedded:/);
      expect(read({ baseUrl: "embedded:.recommender" }, runner).baseUrl).toBe("embedded:.recommender");
      expect(read(complete, runner).baseUrl).toBe(complete.baseUrl);
      expect(read({}, { ...runner, RECOMMENDER_BASE_URL: "embedded:data" }).baseUrl).toBe("embedded:data");
      expect(read({}, { [name]: "false" }).baseUrl).toBe("embedded:.recommender");
    },
  );

  test("comes from the environment before it comes from the stack", () => {
    const environment = { RECOMMENDER_API_KEY: "rotated", RECOMMENDER_PARALLEL: "3" };
    const { baseUrl, accessToken } = complete;
    expect(read(complete, environment)).toMatchObject({
      baseUrl,
      apiKey: "rotated",
      accessToken,
      parallel: 3,
    });
  });

  test.each([
    { accessToken: "t" },
    { tokenCommand: "echo t" },
    { tokenUrl: "https://t.example.com", clientId: "c", clientSecret: "s" },
  ])("of an address in the environment leaves the credentials of the stack unused: %j", (tokens) => {
    const { baseUrl, apiKey } = complete;
    const stack = { baseUrl, apiKey, ...tokens };
    const elsewhere = { RECOMMENDER_BASE_URL: "https://other.example.com" };
    expect(complaint(stack, elsewhere)).toBe(
      "RECOMMENDER_BASE_URL is https://other.example.com, and no credentials are set for it: those of another " +
        "address are not sent there. Set RECOMMENDER_BASE_URL and RECOMMENDER_API_KEY.",
    );
    const settings = read(stack, { ...elsewhere, RECOMMENDER_API_KEY: "of-other" });
    expect(settings).toMatchObject({ baseUrl: "https://other.example.com", apiKey: "of-other" });
    for (const key of ["accessToken", "tokenCommand", "tokenUrl", "clientId", "clientSecret"] as const)
      expect(settings[key]).toBeUndefined();
  });

  test("of the same address in the environment keeps the credentials of the stack", () => {
    const same = { RECOMMENDER_BASE_URL: `${complete.baseUrl}/` };
    expect(read(complete, same)).toMatchObject({ apiKey: "k", accessToken: "t" });
  });

  test("of an embedded service in the environment needs none of the stack's credentials", () => {
    const settings = read(complete, { RECOMMENDER_BASE_URL: "embedded:data" });
    expect([settings.baseUrl, settings.apiKey]).toEqual(["embedded:data", undefined]);
  });

  test("of a token in the environment replaces the whole token source of the stack", () => {
    const stack = {
      ...complete,
      accessToken: "",
      tokenUrl: "https://t.example.com",
      clientId: "c",
      clientSecret: "s",
    };
    const { accessToken, tokenUrl, clientSecret } = read(stack, { RECOMMENDER_ACCESS_TOKEN: "env" });
    expect({ accessToken, tokenUrl, clientSecret }).toEqual({ accessToken: "env" });
  });

  test("of an address and a key is enough: a service of this package gives tokens for its key", () => {
    const { baseUrl, apiKey } = complete;
    expect(read({ baseUrl, apiKey })).toMatchObject({ baseUrl, apiKey });
    expect(read({}, { RECOMMENDER_BASE_URL: baseUrl, RECOMMENDER_API_KEY: apiKey })).toMatchObject({
      apiKey,
    });
  });

  test("names an environment variable for each key", () => {
    expect(environmentName("baseUrl")).toBe("RECOMMENDER_BASE_URL");
    expect(environmentName("deploymentTimeout")).toBe("RECOMMENDER_DEPLOYMENT_TIMEOUT");
  });

  test.each([
    [
      { baseUrl: "http://api.example.com/v1" },
      "recommender:baseUrl is at http://api.example.com, without TLS",
    ],
    [{ baseUrl: "http://localhost:x@api.example.com/" }, "is at http://api.example.com, without TLS"],
    [
      { baseUrl: "https://api.example.com", tokenUrl: "http://id.example.com/token" },
      "recommender:tokenUrl is at",
    ],
  ])("without TLS to another machine gets a warning: %j", (settings, words) => {
    expect(clearTextWarning(settings)).toContain(words);
  });

  test.each(["https://api.example.com", "http://127.0.0.1:8080", "http://localhost/v1", "embedded:data"])(
    "with TLS or on this machine gets none: %s",
    (baseUrl) => {
      expect(clearTextWarning({ baseUrl })).toBeUndefined();
    },
  );

  test("reads times as people write them", () => {
    expect(read({ ...complete, trainingTimeout: "90m" }).trainingTimeout).toBe(5_400_000);
    expect(complaint({ ...complete, trainingTimeout: "90" })).toMatch(
      /trainingTimeout: expected a time such as 90m/,
    );
  });

  test("asks for a least quality of all models by one number, or of each by its name", () => {
    expect(read({ ...complete, minQuality: "0.25" }).minQuality).toEqual({ "*": 0.25 });
    expect(read({ ...complete, minQuality: '{"weekly":0.2}' }).minQuality).toEqual({ weekly: 0.2 });
    expect(read(complete)).toMatchObject({ minQuality: {}, rollback: false });
  });

  test.each([
    [
      { baseUrl: complete.baseUrl },
      /recommender:apiKey is not set.*pulumi config set --secret recommender:apiKey VALUE/,
    ],
    [
      { ...complete, tokenCommand: "x" },
      /accessToken and recommender:tokenCommand contradict.*pulumi config rm/,
    ],
    [
      { ...complete, accessToken: "", tokenUrl: "https://x.example.com" },
      /tokenUrl needs recommender:clientId/,
    ],
    [
      { ...complete, baseUrl: "api.example.com" },
      /recommender:baseUrl: expected an address such as https:.* or embedded:DIR/,
    ],
    [{ ...complete, parallel: "many" }, /recommender:parallel: expected a whole number of connections/],
    [
      { ...complete, minQuality: "0.5%" },
      /recommender:minQuality: expected a number from 0 to 1, or one for/,
    ],
    [{ ...complete, minQuality: '{"weekly": 2}' }, /recommender:minQuality: expected a number from 0 to 1/],
    [{ ...complete, rollback: "yes" }, /recommender:rollback: expected true or false/],
    [{ ...complete, tellOrigin: "no" }, /recommender:tellOrigin: expected true or false/],
    [{ ...complete, jobPollMs: "0" }, /recommender:jobPollMs: expected a whole number of milliseconds/],
  ])("that is missing something or contradicts itself says so and how to mend it: %j", (stack, message) => {
    expect(complaint(stack)).toMatch(message);
  });
});
