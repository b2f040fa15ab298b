const esbuild = require("esbuild");
const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");
const { root } = require("../setup.js");
const { npm } = require("./npm.js");

const source = path.join(root, "web");

/** Browsers that have everything the client uses, such as `AbortSignal.timeout`. */
const target = ["es2022", "chrome103", "firefox100", "safari16"];

/**
 * Builds the client for web pages and packs it into `directory`. It is a module for browsers and for `import`, with a
 * copy for `require`.
 * @param {string} directory
 * @param {string} temporary directory for the contents of the package
 */
async function writeWebPackage(directory, temporary) {
  await fs.promises.mkdir(path.join(temporary, "cjs"), { recursive: true });
  await Promise.all([
    bundle("esm", path.join(temporary, "index.js")),
    bundle("cjs", path.join(temporary, "cjs/index.js")),
  ]);
  writeTypes(temporary);
  for (const name of fs.readdirSync(temporary).filter((file) => file.endsWith(".d.ts")))
    fs.copyFileSync(path.join(temporary, name), path.join(temporary, "cjs", name));
  const write = (/** @type {string} */ name, /** @type {unknown} */ content) =>
    fs.promises.writeFile(path.join(temporary, name), `${JSON.stringify(content, null, 2)}\n`);
  await write("cjs/package.json", { type: "commonjs" });
  await write("package.json", manifest());
  await fs.promises.copyFile(path.join(source, "README.md"), path.join(temporary, "README.md"));
  await fs.promises.copyFile(path.join(root, "LICENSE"), path.join(temporary, "LICENSE"));
  await npm(["pack", temporary, "--ignore-scripts", "--loglevel=error", "--pack-destination", directory]);
}

/** The package has the version of this one. */
function manifest() {
  const { version, license, engines } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  return {
    name: "pulumi-recommender-web",
    version,
    description: "Recommendations in web pages and their servers.",
    keywords: ["recommendation", "recommender-system", "browser"],
    license,
    type: "module",
    main: "./cjs/index.js",
    types: "./cjs/index.d.ts",
    exports: {
      ".": {
        import: { types: "./index.d.ts", default: "./index.js" },
        require: { types: "./cjs/index.d.ts", default: "./cjs/index.js" },
      },
      "./package.json": "./package.json",
    },
    sideEffects: false,
    engines,
  };
}

/** @param {"esm" | "cjs"} format @param {string} outfile */
async function bundle(format, outfile) {
  await esbuild.build({
    entryPoints: [path.join(source, "index.ts")],
    outfile,
    bundle: true,
    format,
    target,
    platform: "neutral",
    minify: format === "esm",
    legalComments: "none",
    logLevel: "error",
  });
}

/** Writes the type declarations. @param {string} outDir */
function writeTypes(outDir) {
  const program = ts.createProgram([path.join(source, "index.ts")], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    types: [],
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    declaration: true,
    emitDeclarationOnly: true,
    stripInternal: true,
    outDir,
  });
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  if (problems.length === 0) return;
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => "\n" };
  throw new Error(ts.formatDiagnostics(problems, host));
}

module.exports = { writeWebPackage };
