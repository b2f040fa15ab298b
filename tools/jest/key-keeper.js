const { randomUUID } = require("node:crypto");
const { once } = require("node:events");
const http = require("node:http");
const { json } = require("node:stream/consumers");

/**
 * Keeps the keys of test stacks, asked as the engine asks a Vault of HashiCorp. From a passphrase the engine would
 * derive the key at each of its commands, which takes longer than all else that it does itself. Gives the address.
 */
async function startKeyKeeper() {
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
  // The tests end without asking whether anybody wants a key.
  server.unref();
  return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
}

module.exports = { startKeyKeeper };
