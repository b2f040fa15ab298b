import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, cutOff, reply, scriptedServer } from "../../client/server";
import { ShopCommand } from "../shop-command";

let shop: ShopCommand;
let project: string[];
beforeAll(async () => {
  shop = await ShopCommand.open();
  project = ["--project", shop.ids.projectId];
});
afterAll(() => shop.close());

const pathOf = (name: string) => join(shop.directory, name);
const linesIn = (name: string) =>
  readFileSync(pathOf(name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { user_id: string; results: { item: { item_id: string } }[] });

/** Runs a command with a service that answers `/submit-recommendation-job` and the reads of its job. */
async function withService(extensions: string[], result: Answer, args: string[]) {
  const service = await scriptedServer((request, response) => {
    const jobResult = { download_url: `http://${request.headers.host}/result` };
    const replies: Record<string, Answer> = {
      "/healthz": reply(200, { extensions }),
      "/get-job": reply(200, { job_type: "RECOMMENDATION", job_status: "SUCCEED", job_result: jobResult }),
      "/submit-recommendation-job": reply(200, { job_id: "job-1" }),
      "/result": result,
    };
    return replies[request.path]?.(request, response);
  });
  const credentials = {
    RECOMMENDER_BASE_URL: service.url,
    RECOMMENDER_TOKEN_URL: "",
    RECOMMENDER_ACCESS_TOKEN: "t",
  };
  const ended = await shop.runWith(credentials, ...args);
  await service.close();
  return { ...ended, paths: service.arrived.map(({ path }) => path) };
}

describe("batch", () => {
  test("recommends to all users, as the deployment does", async () => {
    const { code, out } = await shop.run("batch", ...project, "--out", "all.ndjson", "--limit", "3");
    expect({ code, out }).toEqual({ code: 0, out: "The recommendations for 40 users are in all.ndjson\n" });
    const lines = linesIn("all.ndjson");
    expect(lines.map((line) => line.user_id)).toEqual(Array.from({ length: 40 }, (_, at) => `u${at}`).sort());
    const { results } = await shop.json("recommend", "u7", "--limit", "3");
    const items = lines.find((line) => line.user_id === "u7")?.results.map(({ item }) => item.item_id);
    expect(items).toEqual((results as { item: { itemId: string } }[]).map(({ item }) => item.itemId));
  });

  test("recommends to listed users, with the options of a call", async () => {
    writeFileSync(pathOf("users.txt"), "u3\r\nu1\nnobody\n");
    const options = ["--users", "users.txt", "--attributes", "genre", "--filter", '"drama" in item.genre'];
    const { out, err, code } = await shop.run(
      ...["batch", ...shop.asked, ...options, "--exclude", "i1,i2", "--name", "mail", "--out", "few.ndjson"],
      "--json",
    );
    expect(code).toBe(0);
    expect(err).toContain("1 of 3 listed users have neither a record nor events, so they were left out.");
    expect(JSON.parse(out)).toEqual({ jobId: expect.any(String), file: "few.ndjson", userCount: 2 });
    const lines = linesIn("few.ndjson");
    expect(lines.map((line) => line.user_id)).toEqual(["u1", "u3"]);
    for (const { item } of lines.flatMap(({ results }) => results))
      expect(item).toMatchObject({ genre: ["drama"] });
    const { jobData } = await shop.json("jobs", "get", JSON.parse(out).jobId, ...project);
    expect(jobData).toMatchObject({ modelId: shop.modelId, excludeItemIds: ["i1", "i2"] });
  });

  test("recommends to the users that a query lists", async () => {
    const where = ["--where", "genre=drama:0.5.."];
    const { result } = await shop.json("query", ...shop.asked, ...where);
    await shop.run("batch", ...project, ...where, "--out", "drama.ndjson");
    const [listed] = (result as { queries: { user_ids: string[] }[] }).queries;
    expect(linesIn("drama.ndjson").map((line) => line.user_id)).toEqual(listed?.user_ids.sort());
  });

  test("--no-wait prints the id of a job, whose result can be downloaded later", async () => {
    const { out } = await shop.run("batch", ...project, "--format", "parquet", "--no-wait");
    const saved = ["--download", "all.parquet"];
    const ended = await shop.run("jobs", "wait", out.trim(), ...project, ...saved);
    expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/^users +40$/m) });
    expect(readFileSync(pathOf("all.parquet"), "latin1")).toMatch(/^PAR1[\s\S]*PAR1$/);
  });

  test("submits nothing if the service does not support it", async () => {
    const { code, err, paths } = await withService([], reply(200), ["batch", "--project", "p", "--no-wait"]);
    expect({ code, paths }).toEqual({ code: 1, paths: ["/healthz"] });
    expect(err).toContain(
      "does not support /submit-recommendation-job, which is not part of the specification.",
    );
  });

  test("leaves no part of a result, if the download fails", async () => {
    const args = ["batch", "--project", "p", "--out", "part.ndjson"];
    const { code, err } = await withService(["/submit-recommendation-job"], cutOff, args);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^Cannot write the result of job job-1 to part\.ndjson: .* Get it with `recommender jobs/m,
    );
    expect(existsSync(pathOf("part.ndjson"))).toBe(false);
  });

  test("rejects options that contradict each other, before anything is sent", async () => {
    writeFileSync(pathOf("empty.txt"), "\n");
    const all: [string[], RegExp][] = [
      [[], /Choose a file with --out FILE/],
      [["--users", "empty.txt", "--no-wait"], /empty\.txt contains no id\. Write one id per line\./],
      [["--users", "none.txt", "--no-wait"], /Cannot read none\.txt: ENOENT/],
      [["--users", "users.txt", "--where", "genre=drama"], /cannot be used with option/],
      [["--users", "users.txt", "--out", "users.txt"], /users\.txt is an input of this command/],
      [["--format", "csv"], /Allowed choices are ndjson, parquet/],
    ];
    const ended = await shop.runAll(all.map(([args]) => ["batch", ...project, ...args]));
    for (const [at, [args, message]] of all.entries())
      expect({ args, ...ended[at] }).toMatchObject({ code: 1, out: "", err: expect.stringMatching(message) });
  });
});
