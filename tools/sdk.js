const path = require("node:path");
const { runCommand } = require("./command.js");
const { buildSdk, generateSdks, languages } = require("./sdk/generate.js");
const { installPackages, root } = require("./setup.js");

/** `npm run sdk [-- python go dotnet java]`: generates SDKs from schema.json and builds those that can be built here. */
runCommand(async () => {
  await installPackages();
  const folder = path.join(root, "sdk");
  const wanted = process.argv.length > 2 ? process.argv.slice(2) : languages;
  const other = wanted.find((language) => !languages.includes(language));
  if (other) throw new Error(`${other}: expected one of ${languages.join(", ")}`);
  await generateSdks(folder, wanted);
  for (const language of wanted) {
    const missing = await buildSdk(folder, language);
    console.log(`sdk/${language}: generated${missing ? `, not built: ${missing}` : " and built"}`);
  }
});
