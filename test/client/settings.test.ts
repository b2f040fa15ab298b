import { clearTextWarning, environmentName, readSettings, SettingsError } from "../../client/settings";

const complete = { baseUrl: "https://api.example.com", apiKey: "k", accessToken: "t" };

function read(stack: Record<string, string>, environment: NodeJS.ProcessEnv = {}) {
  return readSettings((key) => stack[key], environment);
}

function errorOf(stack: Record<string, string>, environment: NodeJS.ProcessEnv = {}): string {
  try {
    read(stack, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message;
  }
  throw new Error("no error was thrown");
}

describe("configuration", () => {
  test("defaults to the embedded service in .recommender", () => {
    expect(read({})).toMatchObject({ baseUrl: "embedded:.recommender", jobPollMs: 1000, parallel: 64 });
  });

  test.each(["CI", "TF_BUILD", "JENKINS_URL"])(
    "without an address is rejected on a CI runner, detected by %s",
    (name) => {
      const runner = { [name]: "true" };
      const words = errorOf({}, runner);
      expect(words).toMatch(/recommender:baseUrl is not set, and this is a CI runner/);
      expect(words).toMatch(/RECOMMENDER_BASE_URL.*`pulumi config set recommender:baseUrl embedded:/);
      expect(read({ baseUrl: "embedded:.recommender" }, runner).baseUrl).toBe("embedded:.recommender");
      expect(read(complete, runner).baseUrl).toBe(complete.baseUrl);
      expect(read({}, { ...runner, RECOMMENDER_BASE_URL: "embedded:data" }).baseUrl).toBe("embedded:data");
      expect(read({}, { [name]: "false" }).baseUrl).toBe("embedded:.recommender");
    },
  );

  test("is read from the environment first, then from the stack", () => {
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
  ])("with another address in the environment ignores the credentials of the stack: %j", (tokens) => {
    const { baseUrl, apiKey } = complete;
    const stack = { baseUrl, apiKey, ...tokens };
    const elsewhere = { RECOMMENDER_BASE_URL: "https://other.example.com" };
    expect(errorOf(stack, elsewhere)).toBe(
      "RECOMMENDER_BASE_URL is https://other.example.com, but no credentials are set for it. Credentials of " +
        "another address are not sent there. Set RECOMMENDER_BASE_URL and RECOMMENDER_API_KEY.",
    );
    const settings = read(stack, { ...elsewhere, RECOMMENDER_API_KEY: "of-other" });
    expect(settings).toMatchObject({ baseUrl: "https://other.example.com", apiKey: "of-other" });
    for (const key of ["accessToken", "tokenCommand", "tokenUrl", "clientId", "clientSecret"] as const)
      expect(settings[key]).toBeUndefined();
  });

  test("with the same address in the environment uses the credentials of the stack", () => {
    const same = { RECOMMENDER_BASE_URL: `${complete.baseUrl}/` };
    expect(read(complete, same)).toMatchObject({ apiKey: "k", accessToken: "t" });
  });

  test("with an embedded service in the environment ignores the credentials of the stack", () => {
    const settings = read(complete, { RECOMMENDER_BASE_URL: "embedded:data" });
    expect([settings.baseUrl, settings.apiKey]).toEqual(["embedded:data", undefined]);
  });

  test("with a token in the environment ignores the whole token source of the stack", () => {
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

  test("needs only an address and a key, because a service of this package issues tokens for its key", () => {
    const { baseUrl, apiKey } = complete;
    expect(read({ baseUrl, apiKey })).toMatchObject({ baseUrl, apiKey });
    expect(read({}, { RECOMMENDER_BASE_URL: baseUrl, RECOMMENDER_API_KEY: apiKey })).toMatchObject({
      apiKey,
    });
  });

  test("has an environment variable for each key", () => {
    expect(environmentName("baseUrl")).toBe("RECOMMENDER_BASE_URL");
    expect(environmentName("deploymentTimeout")).toBe("RECOMMENDER_DEPLOYMENT_TIMEOUT");
  });

  test("with a token endpoint in the environment does not use the client of the stack, and says so", () => {
    const client = { clientId: "c", clientSecret: "s" };
    const stack = { ...complete, accessToken: "", tokenUrl: "https://t.example.com", ...client };
    const environment = { RECOMMENDER_TOKEN_URL: "https://other.example.com" };
    expect(errorOf(stack, environment)).toBe(
      "RECOMMENDER_TOKEN_URL is set, but credentials in the stack configuration are not sent to that address. " +
        "Set RECOMMENDER_CLIENT_ID and " +
        "RECOMMENDER_CLIENT_SECRET too, or unset RECOMMENDER_TOKEN_URL.",
    );
    expect(errorOf(stack, { ...environment, RECOMMENDER_CLIENT_ID: "e" })).toContain(
      "Set RECOMMENDER_CLIENT_SECRET too, or unset",
    );
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
    "with TLS or on this machine gets no warning: %s",
    (baseUrl) => {
      expect(clearTextWarning({ baseUrl })).toBeUndefined();
    },
  );

  test("reads durations with units", () => {
    expect(read({ ...complete, trainingTimeout: "90m" }).trainingTimeout).toBe(5_400_000);
    expect(errorOf({ ...complete, trainingTimeout: "90" })).toMatch(
      /trainingTimeout: expected a time such as 90m/,
    );
  });

  test("takes a minimum quality for all models, or for each model by name", () => {
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
      { ...complete, accessToken: "", clientSecret: "s" },
      /clientSecret needs recommender:tokenUrl.*pulumi config set --plaintext recommender:tokenUrl VALUE/,
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
  ])("that is incomplete or contradictory is rejected with a fix: %j", (stack, message) => {
    expect(errorOf(stack)).toMatch(message);
  });
});
