import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dataDirectoryAt, embedded, lockDataDirectory, startService } from "../../../service";
import { ended } from "../process";
import { Running } from "../running";

const built = join(__dirname, "..", "..", "..", "dist", "service");

/** Returns the open files of this process. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

describe("a data directory", () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "directory-"));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  test.each(["keyFile", "secretFile"] as const)(
    "does not start with a %s that is too short, and the error names the fix",
    async (name) => {
      const file = dataDirectoryAt(dataDir)[name];
      for (const text of ["", "\n", "short"]) {
        writeFileSync(file, text);
        await expect(startService({ dataDir, log: "none" })).rejects.toThrow(
          new RegExp(`secret in ${file} is too short: it has ${text.trim().length} of .* delete the file`),
        );
      }
      expect(openFiles()).not.toContain(dataDirectoryAt(dataDir).database);
      rmSync(file);
      const service = await startService({ dataDir, log: "none" });
      await service.close();
    },
  );

  test("that cannot be created fails the start, and the error names the fix", async () => {
    const here = process.platform === "linux" ? "/proc/nothing" : join(__filename, "nothing");
    const refused = `Cannot create the directory ${here} (`;
    await expect(startService({ dataDir: here, log: "none" })).rejects.toThrow(refused);
    await expect(embedded(here)).rejects.toThrow(refused);
  });

  test("is readable by its owner only, even if it existed before", async () => {
    chmodSync(dataDir, 0o755);
    for (const name of ["models", "results"]) mkdirSync(join(dataDir, name), { mode: 0o755 });
    writeFileSync(dataDirectoryAt(dataDir).database, "", { mode: 0o644 });
    writeFileSync(dataDirectoryAt(dataDir).lockFile, "", { mode: 0o644 });
    const api = await Running.start({ dataDir, log: "file" });
    await api.call("createEventDataset", { name: "some", numShards: 1 });
    const mode = (name: string) => (statSync(join(dataDir, name)).mode & 0o777).toString(8);
    const modes = Object.fromEntries(["", ...readdirSync(dataDir)].map((name) => [name, mode(name)]));
    expect(modes).toMatchObject({
      "": "700",
      models: "700",
      results: "700",
      "data.db": "600",
      "data.db-wal": "600",
    });
    const files = Object.entries(modes).filter(([name]) => !["", "models", "results"].includes(name));
    expect(files.filter(([, mode]) => mode !== "600")).toEqual([]);
    await api.end();
  });

  test("is not created in a directory that contains other files", async () => {
    writeFileSync(join(dataDir, "index.ts"), "");
    await expect(startService({ dataDir, log: "none" })).rejects.toThrow("it contains index.ts");
    await expect(embedded(dataDir)).rejects.toThrow("is not a data directory");
    expect(readdirSync(dataDir)).toEqual(["index.ts"]);
  });

  test("has an id, shown by /status, that lasts as long as its data", async () => {
    const idOf = async () => {
      const api = await Running.start({ dataDir });
      const { body } = await api.raw("/status", { headers: { apikey: api.service.key } });
      await api.end();
      return body.instance_id;
    };
    const id = await idOf();
    expect(id).toMatch(/^instance-[0-9a-f]{20}$/);
    expect(await idOf()).toBe(id);
    for (const name of readdirSync(dataDir)) if (name.startsWith("data.db")) rmSync(join(dataDir, name));
    expect(existsSync(dataDirectoryAt(dataDir).keyFile)).toBe(true);
    expect(await idOf()).not.toBe(id);
  });

  test("is served by one process only, even if another waited for the lock while the directory was reset", async () => {
    const directory = dataDirectoryAt(dataDir);
    const unlock = lockDataDirectory(directory);
    const program = `const { dataDirectoryAt, lockDataDirectory } = require(${JSON.stringify(built)});
      console.log("waits");
      lockDataDirectory(dataDirectoryAt(${JSON.stringify(dataDir)}));`;
    const waiter = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "pipe"] });
    const end = ended(waiter);
    await once(waiter.stdout, "data");
    await sleep(200);
    rmSync(directory.lockFile);
    const unlockNew = lockDataDirectory(directory);
    unlock();
    const { code, err } = await end;
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("is already in use") });
    unlockNew();
  });
});
