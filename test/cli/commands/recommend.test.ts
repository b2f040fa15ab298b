import type { Rules } from "../../../contract";
import { deploy } from "../../service/shop";
import { ShopCommand } from "../shop-command";

let shop: ShopCommand;
beforeAll(async () => {
  shop = await ShopCommand.open();
});
afterAll(() => shop.close());

const lines = (text: string) => text.trimEnd().split("\n");
type Results = { results: { item: { itemId: string } }[] };
const idsOf = ({ results }: Results) => results.map(({ item }) => item.itemId);

describe("recommend", () => {
  test("--filter, --exclude and --include limit the items", async () => {
    const filter = 'item.title.endsWith("0")';
    const found = await shop.json("recommend", "u1", "--filter", filter, "--limit", "3");
    expect(found.filterQuery).toBe(filter);
    const ids = idsOf(found as Results);
    expect(ids).toHaveLength(3);
    for (const id of ids) expect(id).toMatch(/0$/);
    const [first, second, third] = ids as [string, string, string];
    const less = await shop.json("recommend", "u1", "--filter", filter, "--exclude", `${first}, ${second}`);
    expect(idsOf(less as Results)[0]).toBe(third);
    const few = await shop.run("recommend", "u1", "--include", `${third},${first}`);
    expect(few.out).toBe(`#  ITEM\n1  ${first}\n2  ${third}\n`);
    expect(few.err).toBe("The service returned only 2 items.\n");
  });

  test("--filter reports where an expression is wrong", async () => {
    const { code, err } = await shop.run("recommend", "u1", "--filter", 'item.titel == "x"');
    expect(code).toBe(1);
    expect(err).toContain("filter_query: at character 1: item.titel is unknown; did you mean item.title?");
  });

  test("--session recommends to a visitor without an id", async () => {
    const found = await shop.json("recommend", "--session", "i2,i6,i10", "--limit", "5");
    expect(found.userId).toBeNull();
    expect(idsOf(found as Results)).toHaveLength(5);
    const other = await shop.json("recommend", "--session", "i2,i6,i10", "--session-type", "view");
    expect(idsOf(other as Results)).not.toEqual(idsOf(found as Results));
    expect((await shop.run("recommend", "--session", "i2", "--why", "--limit", "1")).err).toContain(
      "Based on the events of the visitor.",
    );
  });

  test("--similar-to shows similar items, with attributes and a filter", async () => {
    const filter = ["--filter", '"action" in item.genre', "--limit", "3"];
    const { out } = await shop.run("recommend", "--similar-to", "i2,i6", "--attributes", "genre", ...filter);
    expect(out).toMatch(/^# {2}ITEM +GENRE\n(\d {2}i\d+ +action\n){3}$/);
    expect(Math.max(...lines(out).map(({ length }) => length))).toBeLessThanOrEqual(80);
    const found = await shop.json("recommend", "--similar-to", "i2,i6", "--serving-uri", shop.servingUri);
    expect(found).toMatchObject({ itemIds: ["i2", "i6"], limit: 10 });
    const none = await shop.run("recommend", "--similar-to", "i2", "--filter", "false");
    expect(none).toMatchObject({ code: 0, out: "There are no items similar to i2.\n" });
  });

  test("--why names what the rules of the deployment did", async () => {
    const redeploy = (rules?: Rules) =>
      deploy(shop.api, shop.ids.projectId, shop.modelId, rules ? { rules } : {});
    await redeploy({
      boost: [{ when: '"drama" in item.genre', factor: 1.5 }],
      pin: [{ itemId: "i1", position: 2 }],
    });
    const { out } = await shop.run("recommend", "stranger", "--why", "--limit", "4");
    await redeploy();
    expect(lines(out)[2]).toMatch(/^2 {2}i1 +pinned$/);
    expect(out).toMatch(/boosted × 1\.5$/m);
  });

  test.each([
    [[], /Name a user, the items of a visit with --session, or items with --similar-to/],
    [["u1", "--similar-to", "i1"], /--similar-to replaces the user/],
    [["--similar-to", "i1", "--why"], /--why explains recommendations for a user/],
    [["u1", "--session-type", "view"], /Pass --session too/],
  ])("%j is rejected", async (args, message) => {
    const { code, err } = await shop.run("recommend", ...args);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(message) });
  });
});
