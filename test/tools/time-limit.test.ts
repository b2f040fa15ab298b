import { spawnSync } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "./provide";

test("a command that does not end fails the test that waits for it, with its name and what it said; a compiler has longer", async () => {
  const folder = await temporaryFolder();
  const script = "console.log('so far'); setInterval(() => undefined, 1000)";
  const setupFilesAfterEnv = [require.resolve("../../tools/jest/time-limit.js")];
  await writeFile(join(folder, "jest.config.json"), JSON.stringify({ setupFilesAfterEnv, transform: {} }));
  await symlink(process.execPath, join(folder, "go"));
  await writeFile(
    join(folder, "a.test.js"),
    `const { spawn, spawnSync } = require("node:child_process");
    const { once } = require("node:events");
    const command = [process.execPath, ["-e", ${JSON.stringify(script)}]];
    test("waits", () => once(spawn(...command), "close"));
    test("waits at once", () => expect(spawnSync(...command).error.message).toBe(""));
    test("does not wait for long", () => once(spawn(process.execPath, ["-e", "0"]), "close"));
    const compiler = ["./go", ["-e", "setTimeout(() => undefined, 3000)"]];
    test("waits longer for a compiler", () => once(spawn(...compiler), "close"));
    test("waits longer for a compiler at once", () => expect(spawnSync(...compiler).status).toBe(0));`,
  );
  const { stderr } = spawnSync(process.execPath, [require.resolve("jest/bin/jest")], {
    cwd: folder,
    env: { ...process.env, RECOMMENDER_COMMAND_LIMIT_MS: "2000" },
    encoding: "utf8",
  });
  expect(stderr).toContain("2 failed, 3 passed");
  expect(stderr).toContain(`-e ${script}\` was ended: it ran for more than 2 s in "waits"`);
  expect(stderr).toMatch(/Its output so far:\s+so far/);
  expect(stderr).toMatch(/spawnSync \S+ ETIMEDOUT/);
});
