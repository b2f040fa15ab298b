const { createRequire } = require("node:module");
const { root } = require("../setup.js");
const { writeCompiled } = require("./compiled.js");
const { filesOfSdk } = require("./fast-start.js");

/**
 * Writes what the processes load that tests start: `node write-compiled.js FOLDER`. What is called before is compiled
 * too: a command's options, a service, and a call to it.
 */
void writeCompiled(process.argv[2] ?? "", async () => {
  // What every process looks for is found once.
  filesOfSdk();
  for (const name of ["@pulumi/pulumi", "@pulumi/pulumi/cmd/run/tracing", "source-map-support"])
    require(name);
  const [, { startService }, { createProgram }, { Client, endpointToken }, { routes }] = [
    "provider/index",
    "service/index",
    "cli/main",
    "client/client",
    "contract/index",
  ].map((name) => require(`${root}/dist/${name}.js`));
  await createProgram();
  const { url, key, close } = await startService({ log: "none" });
  const token = endpointToken({ url: `${url}/oauth/token`, clientId: "test", clientSecret: key });
  const client = new Client({ baseUrl: url, apiKey: key, token });
  await client.call(routes.createEventDataset, { name: "events", numShards: 1 });
  await client.call(routes.listEventDatasets, {});
  await client.close();
  await close();
  // A program in TypeScript is compiled by what the SDK finds.
  /** Its types leave this out. @type {any} */
  const tsutils = require("@pulumi/pulumi/tsutils");
  const { typescriptRequire: compiler, tsnodeRequire } = tsutils.typeScriptRequireStrings();
  const typed = createRequire(require.resolve("@pulumi/pulumi"))(tsnodeRequire);
  typed.register({ compiler, transpileOnly: true }).compile("export const one: number = 1;", "index.ts");
});
