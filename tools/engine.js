const path = require("node:path");
const { provideEngine, provideHosts } = require("./engine/provide.js");
const { runCommand } = require("./command.js");
const { installPackages } = require("./setup.js");

/**
 * `npm run engine [-- --json | --languages]`: provides the engine and prints its directory. `--languages` also provides
 * the language hosts of Python and YAML. The last line of the output is what to add to PATH.
 */
runCommand(async () => {
  await installPackages();
  const engine = await provideEngine();
  if (process.argv.includes("--json")) console.log(JSON.stringify(engine));
  else {
    const hosts = process.argv.includes("--languages") ? [(await provideHosts()).bin] : [];
    const directories = [...new Set([engine.bin, ...hosts])].join(path.delimiter);
    console.log(`Pulumi engine ${engine.version} (${sourceNames[engine.source]})\n${directories}`);
  }
});

const sourceNames = { path: "found on PATH", download: "official download", build: "built from source" };
