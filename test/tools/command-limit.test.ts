import { spawnSync } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "./provide";

test("a command that hangs is killed and fails its test; compilers have a longer limit", async () => {
  const directory = await temporaryDirectory();
  const script = "setInterval(() => undefined, 1000)";
  const setupFilesAfterEnv = [require.resolve("../../tools/jest/test-file-setup.js")];
  await writeFile(join(directory, "jest.config.json"), JSON.stringify({ setupFilesAfterEnv, transform: {} }));
  await symlink(process.execPath, join(directory, "go"));
  await writeFile(
    join(directory, "a.test.js"),
    `const { spawn, spawnSync } = require("node:child_process");
    const { once } = require("node:events");
    const command = [process.execPath, ["-e", ${JSON.stringify(script)}]];
    test("waits", () => once(spawn(...command), "close"));
    test("waits synchronously", () => expect(spawnSync(...command).error.message).toBe(""));
    test("runs a quick command", () => once(spawn("true"), "close"));
    const compiler = ["./go", ["-e", "setTimeout(() => undefined, 3000)"]];
    test("waits longer for a compiler", () => once(spawn(...compiler), "close"));
    test("waits longer for a compiler synchronously", () => expect(spawnSync(...compiler).status).toBe(0));`,
  );
  const { stderr } = spawnSync(process.execPath, [require.resolve("jest/bin/jest")], {
    cwd: directory,
    env: { ...process.env, RECOMMENDER_COMMAND_LIMIT_MS: "2000" },
    encoding: "utf8",
  });
  expect(stderr).toContain("2 failed, 3 passed");
  expect(stderr).toContain(`-e ${script}\` was killed: it ran for more than 2 s in "waits"`);
  expect(stderr).toMatch(/spawnSync \S+ ETIMEDOUT/);
});
