const fs = require("node:fs");
const path = require("node:path");
const { buildSdk, generateSdks, isThere, languages } = require("../sdk/generate.js");
const { filesIn, writeArchive } = require("./archive.js");

const { version } = require("../../package.json");

/**
 * Writes the SDKs: a wheel for Python, and sources for the other languages.
 * @param {{ directory: string, temporary: string, pluginDownloadURL?: string | undefined }} options
 */
async function writeSdks({ directory, temporary, pluginDownloadURL }) {
  await generateSdks(temporary, languages, pluginDownloadURL);
  for (const language of languages) {
    const sdk = path.join(temporary, language);
    if (language === "python" || language === "go") await buildSdk(temporary, language);
    if (language === "python") {
      const [wheel = ""] = await fs.promises.readdir(path.join(sdk, "dist"));
      await fs.promises.copyFile(path.join(sdk, "dist", wheel), path.join(directory, wheel));
    } else {
      const name = `pulumi-recommender-sdk-${language}-v${version}.tar.gz`;
      await writeArchive(path.join(directory, name), filesIn(sdk));
    }
  }
}

/** Throws if the tools that build the SDKs are missing. */
function requireSdkTools() {
  const missing = ["go", "python3"].filter((program) => !isThere(program));
  if (missing.length === 0) return;
  throw new Error(
    `The SDKs need ${missing.map((name) => `\`${name}\``).join(" and ")} on PATH. Install it, or select the other ` +
      "parts with --only.",
  );
}

module.exports = { writeSdks, requireSdkTools };
