const path = require("node:path");
const { parseArgs } = require("node:util");
const { runCommand } = require("./command.js");
const { buildSdk, generateSdks, languages } = require("./sdk/generate.js");
const { installPackages, root } = require("./setup.js");

/**
 * `npm run sdk [-- python go dotnet java] [--plugin-download-url URL]`: generates SDKs from schema.json and builds
 * those whose tools are installed. The URL is where the archives of the plugin are published.
 */
runCommand(async () => {
  await installPackages();
  const directory = path.join(root, "sdk");
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "plugin-download-url": { type: "string" } },
  });
  const wanted = positionals.length > 0 ? positionals : languages;
  const unknown = wanted.find((language) => !languages.includes(language));
  if (unknown) throw new Error(`Unknown language: ${unknown}. Use one of: ${languages.join(", ")}.`);
  await generateSdks(directory, wanted, values["plugin-download-url"]);
  for (const language of wanted) {
    const missing = await buildSdk(directory, language);
    console.log(`sdk/${language}: generated${missing ? `, not built: ${missing}` : " and built"}`);
  }
});
