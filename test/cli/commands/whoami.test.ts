import { routes } from "../../../contract";
import { ShopCommand } from "../shop-command";

let shop: ShopCommand;
beforeAll(async () => {
  shop = await ShopCommand.open();
});
afterAll(() => shop.close());

describe("whoami", () => {
  const scopes = Object.keys(routes).length;

  test("shows settings and their sources, but no secrets", async () => {
    const { key, url } = shop.api.service;
    const text = await shop.run("whoami");
    expect(text).toMatchObject({ code: 0, err: "" });
    expect(text.out).toMatch(/^apiKey +\(set, not shown\) +RECOMMENDER_API_KEY$/m);
    expect(text.out).toMatch(new RegExp(`^tokens +${scopes} of ${scopes} scopes$`, "m"));
    const json = await shop.json("whoami");
    expect(json).toMatchObject({ ok: true, service: { url, taken: true } });
    expect(JSON.stringify(json) + text.out).not.toContain(key);
  });

  test("reports scopes without a token, and a rejected token", async () => {
    const withCommand = {
      RECOMMENDER_TOKEN_URL: "",
      RECOMMENDER_CLIENT_ID: "",
      RECOMMENDER_CLIENT_SECRET: "",
    };
    const tokenCommand = `[ "$RECOMMENDER_SCOPE" != /get-job ] || exit 3; echo not-a-token-1234`;
    const found = await shop.runWith({ ...withCommand, RECOMMENDER_TOKEN_COMMAND: tokenCommand }, "whoami");
    expect(found).toMatchObject({ code: 1, err: "Some checks failed. See the output above.\n" });
    expect(found.out).toMatch(new RegExp(`^tokens +${scopes - 1} of ${scopes} scopes$`, "m"));
    expect(found.out).toMatch(/^\/get-job +RECOMMENDER_TOKEN_COMMAND exited with code 3/m);
    expect(found.out).toMatch(/^test call .*401/m);
    expect(found.out).not.toContain("not-a-token");
    expect(found.out).not.toContain("echo");
  });

  test("reports a missing setting", async () => {
    expect(await shop.runWith({ RECOMMENDER_API_KEY: "" }, "whoami")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^recommender:apiKey is not set\. Set it with .* RECOMMENDER_API_KEY/),
    });
  });
});
