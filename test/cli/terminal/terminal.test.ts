import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, ended, run } from "../../service/process";
import { trainModel } from "../../service/shop";
import { ShopCommand } from "../shop-command";

let shop: ShopCommand;
beforeAll(async () => {
  shop = await ShopCommand.open();
});
afterAll(() => shop.close());

/** Runs a command on a terminal, and types a key at the first question. */
async function runWithKey(key: string, ...args: string[]) {
  const preload = join(shop.directory, "terminal.cjs");
  writeFileSync(preload, "process.stdin.isTTY = true; process.stderr.isTTY = true;");
  const env = { ...process.env, ...shop.environment };
  const child = spawn(process.execPath, ["--require", preload, command, ...args], {
    cwd: shop.directory,
    env,
  });
  child.stderr.on("data", (text) => {
    if (String(text).includes("[y/N]")) child.stdin.write(key);
  });
  return ended(child);
}

describe("a confirmation on a terminal", () => {
  const forget = () => ["events", "forget-user", "ann", "--dataset", shop.ids.eventDatasetId];
  const shutdown = () => ["shutdown", "--project", shop.ids.projectId];

  test("ends with 130 on Ctrl+C, without doing anything", async () => {
    const { code, err, out } = await runWithKey("\u0003", ...forget());
    expect({ code, out }).toEqual({ code: 130, out: "" });
    expect(err).toMatch(/\nNothing was done\.\n$/);
  });

  test.each([
    ["an n", "n\r"],
    ["Ctrl+D", "\u0004"],
  ])("is answered with no by %s", async (_, key) => {
    const { code, err, out } = await runWithKey(key, ...shutdown());
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/\[y\/N\][\s\S]*Nothing was done\.\n$/);
    expect(await shop.run("recommend", "u1")).toMatchObject({ code: 0 });
  });
});

test("control characters are escaped in all output", async () => {
  const hostile = "u\u001b[2Jx\u009b\u202e";
  const spelled = "u\\u001b[2Jx\\u009b\\u202e";
  const dataset = ["--dataset", shop.ids.eventDatasetId];
  const all = [
    await shop.run("events", "forget-user", hostile, ...dataset, "--yes"),
    await shop.run("events", "forget-user", hostile, ...dataset),
    await shop.run("models", "get", hostile, "--project", shop.ids.projectId),
    await shop.run("recommend", "u1", "--deployment", hostile, "--stack", hostile),
    await shop.run("query", ...shop.asked, "--where", `genre=${hostile}`),
    await shop.run("distribution", `genre=${hostile}`, ...shop.asked),
    await shop.run("models", hostile),
  ];
  for (const { out, err } of all) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them.
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect((out + err).replace(/\s/g, "")).toContain(spelled);
  }
});

test("charts of values with similar file names get separate files", async () => {
  const { itemDatasetId } = shop.ids;
  const long = "x".repeat(60);
  const genres = ["a/b", "a_b", "a b", `${long}1`, `${long}2`];
  const items = genres.map((genre, at) => ({ itemId: `odd${at}`, attributes: { genre: [genre] } }));
  await shop.api.call("upsertDatasetItems", { itemDatasetId, items });
  const asked = ["--project", shop.ids.projectId, "--model", await trainModel(shop.api, shop.ids, "odd")];
  const { charts } = await shop.json("distribution", ...genres.map((genre) => `genre=${genre}`), ...asked);
  expect(new Set(charts as string[]).size).toBe(genres.length);
  for (const [at, file] of (charts as string[]).entries()) {
    // The title contains as much of the value as fits.
    const title = `genre = ${genres[at]?.slice(0, 60)}`;
    expect(readFileSync(join(shop.directory, file), "utf8")).toContain(title);
  }
  // A second run does not overwrite the chart of another value.
  const again = await shop.json("distribution", "genre=a/b", ...asked);
  expect(again.charts).toEqual([(charts as string[])[0]]);
});

test("bounds that are not a share are rejected with a reason", async () => {
  for (const range of ["2..3", "..20", "-1.."]) {
    const { code, err } = await shop.run("query", ...shop.asked, "--where", `genre=drama:${range}`);
    expect({ range, code }).toEqual({ range, code: 1 });
    expect(err.replace(/\s+/g, " ")).toContain("usage is a share between 0 and 1, not a percentage");
  }
});

const fullDisk = "/dev/full";
(existsSync(fullDisk) ? test : test.skip)("a full disk is reported in one line", async () => {
  for (const args of [["--help"], ["models", "list", "--project", shop.ids.projectId]]) {
    const full = openSync(fullDisk, "w");
    const env = { ...process.env, ...shop.environment };
    const child = spawn(process.execPath, [command, ...args], { env, stdio: ["ignore", full, "pipe"] });
    const { code, err } = await ended(child);
    closeSync(full);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^Cannot write the output: .*\n$/),
    });
  }
});

test("a closed pipe ends the command silently", async () => {
  const { stderr } = spawnSync("sh", ["-c", `"${process.execPath}" "${command}" --help | true`], {
    encoding: "utf8",
  });
  expect(stderr).toBe("");
});

test("the completion script for bash can be sourced twice", async () => {
  const { out } = await run("completion", "bash");
  const { stderr, stdout } = spawnSync("bash", [], { input: `${out}\n${out}\necho read`, encoding: "utf8" });
  expect({ stderr, stdout }).toEqual({ stderr: "", stdout: "read\n" });
});

test("whoami gets tokens from the service if only an address and a key are set, and reports a wrong key", async () => {
  const { url, key } = shop.api.service;
  const withoutSource = {
    RECOMMENDER_TOKEN_URL: "",
    RECOMMENDER_CLIENT_ID: "",
    RECOMMENDER_CLIENT_SECRET: "",
  };
  const found = await shop.runWith(withoutSource, "whoami");
  expect(found).toMatchObject({ code: 0, err: "" });
  expect(found.out).toContain(`${url}/oauth/token`);
  expect(found.out).toMatch(/^tokens +(\d+) of \1 scopes$/m);
  const wrong = await shop.runWith({ ...withoutSource, RECOMMENDER_API_KEY: `${key}-wrong` }, "whoami");
  expect(wrong.code).toBe(1);
  expect(wrong.out).toMatch(
    /^test call +\S+\/oauth\/token rejects RECOMMENDER_API_KEY \(401 UNAUTHENTICATED\)\.$/m,
  );
  expect(wrong.out).not.toContain(key);
});

test("every command fails soon if the service is down, and reports its address and the reason once", async () => {
  const address = "http://127.0.0.1:9";
  const nobody = { RECOMMENDER_BASE_URL: address, RECOMMENDER_TOKEN_URL: "", RECOMMENDER_CLIENT_SECRET: "" };
  for (const words of [
    ["recommend", "u1"],
    ["models", "list", "--project", "p"],
    ["datasets", "list"],
  ]) {
    const { code, err } = await shop.runWith(nobody, ...words);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:9 refuses connections \(ECONNREFUSED\), tried for \d s\. Is the service running\? Check the address with `recommender whoami`\.\n$/,
      ),
    });
  }
  const { out } = await shop.runWith(nobody, "whoami");
  expect(out.match(/ECONNREFUSED/g)).toHaveLength(1);
});

test("credentials for another address in the environment are not sent to --service", async () => {
  const { code, err } = await shop.run("datasets", "list", "--service", "https://other.invalid");
  expect({ code, err }).toEqual({
    code: 1,
    err:
      "--service is https://other.invalid, but no credentials are set for it. Credentials of another address are not " +
      "sent there. Set RECOMMENDER_BASE_URL and RECOMMENDER_API_KEY.\n",
  });
});

test("whoami shows which models are pinned", async () => {
  const pinned = JSON.stringify({ live: { generatorModelId: "model-1" } });
  const { out } = await shop.runWith({ RECOMMENDER_PINNED_MODELS: pinned }, "whoami", "--json");
  const from = "RECOMMENDER_PINNED_MODELS";
  expect(JSON.parse(out).configuration).toContainEqual({ key: "pinnedModels", value: pinned, from });
});
