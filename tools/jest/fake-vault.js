const { spawn } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const { once } = require("node:events");
const http = require("node:http");
const { json } = require("node:stream/consumers");

/**
 * Starts a server that acts like HashiCorp Vault for the engine and stores the encryption keys of test stacks. With a
 * passphrase, the engine derives the key again in every command, which takes longer than the rest of the command. The
 * server is a separate process because a test may block its own process while it waits for the engine.
 * @returns the URL of the server
 */
async function startFakeVault() {
  const vault = spawn(process.execPath, [__filename], { stdio: ["pipe", "pipe", "inherit"] });
  const [url] = await once(vault.stdout, "data");
  vault.stdout.destroy();
  // Jest does not wait for the server. The server exits when its stdin closes, at the end of this process.
  vault.unref();
  /** @type {import("node:net").Socket} */ (vault.stdin).unref();
  return String(url);
}

async function serve() {
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

module.exports = { startFakeVault };

if (require.main === module) void serve();
