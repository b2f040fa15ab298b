const { provideEngine } = require("./engine/provide.js");
const { runCommand } = require("./command.js");
const { installPackages } = require("./setup.js");

/** `npm run engine [-- --json]`: provides the engine and says where it is. */
runCommand(async () => {
  await installPackages();
  const engine = await provideEngine();
  if (process.argv.includes("--json")) console.log(JSON.stringify(engine));
  else console.log(`Pulumi engine ${engine.version} (${wordsFor[engine.source]})\n${engine.bin}`);
});

const wordsFor = { path: "found on PATH", download: "official download", build: "built from source" };
