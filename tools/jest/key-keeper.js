const { spawn } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const { once } = require("node:events");
const http = require("node:http");
const { json } = require("node:stream/consumers");

/**
 * Keeps the keys of test stacks, asked as the engine asks a Vault of HashiCorp. From a passphrase the engine would
 * derive the key at each of its commands, which takes longer than all else that it does itself. It has a process of its
 * own, as a test may wait for the engine without hearing anything else. Gives the address.
 */
async function startKeyKeeper() {
  const keeper = spawn(process.execPath, [__filename], { stdio: ["pipe", "pipe", "inherit"] });
  const [address] = await once(keeper.stdout, "data");
  keeper.stdout.destroy();
  // It ends with this process, which does not wait for it.
  keeper.unref();
  /** @type {import("node:net").Socket} */ (keeper.stdin).unref();
  return String(address);
}

async function keepKeys() {
  /** @type {Map<string, string>} */
  const keys = new Map();
  const server = http.createServer(async (request, response) => {
    const { plaintext, ciphertext } = /** @type {Record<string, string>} */ (await json(request));
    const sealed = `vault:v1:${randomUUID()}`;
    if (plaintext !== undefined) keys.set(sealed, plaintext);
    const data = ciphertext === undefined ? { ciphertext: sealed } : { plaintext: keys.get(ciphertext) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.stdout.write(`http://127.0.0.1:${port}`);
  process.stdin.resume().on("end", () => process.exit());
}

module.exports = { startKeyKeeper };

if (require.main === module) void keepKeys();
