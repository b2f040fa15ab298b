const fs = require("node:fs");
const path = require("node:path");
const zlib = require("node:zlib");
const esbuild = require("esbuild");

/**
 * Bundles the web console into dist/console/. All files except index.html and the icon have a hash of their content in
 * their names. Each file also gets a compressed copy.
 * @param {string} root
 * @param {string} dist
 */
async function buildConsole(root, dist) {
  const out = path.join(dist, "console");
  await fs.promises.rm(out, { recursive: true, force: true });
  const source = path.join(root, "console");
  const { metafile } = await esbuild.build({
    entryPoints: { console: path.join(source, "main.tsx"), style: path.join(source, "style.css") },
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2022", "chrome109", "firefox115", "safari16.4"],
    minify: true,
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    metafile: true,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    outdir: out,
    logLevel: "warning",
  });
  /** @param {string} entry */
  const outputOf = (entry) => {
    const found = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint?.endsWith(entry));
    return path.basename(found?.[0] ?? "");
  };
  const text = await fs.promises.readFile(path.join(source, "index.html"), "utf8");
  const page = text.replace("main.tsx", outputOf("main.tsx")).replace("style.css", outputOf("style.css"));
  await fs.promises.writeFile(path.join(out, "index.html"), page);
  await fs.promises.copyFile(path.join(source, "icon.svg"), path.join(out, "icon.svg"));
  for (const name of await fs.promises.readdir(out)) {
    const plain = await fs.promises.readFile(path.join(out, name));
    await fs.promises.writeFile(path.join(out, `${name}.gz`), zlib.gzipSync(plain, { level: 9 }));
  }
}

module.exports = { buildConsole };
