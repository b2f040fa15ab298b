const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");
const { finishBuild, prepareBuild, root, sourceDirectories } = require("./setup.js");

/** `node tools/types.js`: checks all types, and builds dist/ in the same pass because that is faster than compiling twice. */
async function checkTypes() {
  const build = configOf("tsconfig.build.json");
  const { options, fileNames } = configOf("tsconfig.json");
  const program = ts.createProgram({
    rootNames: fileNames,
    options: { ...build.options, ...options, noEmit: false },
    configFileParsingDiagnostics: build.errors,
  });
  const modified = await prepareBuild();
  const emitted = modified ? program.getSourceFiles().filter(isInPackage) : [];
  // `npm run build` compiles incrementally, and its records would not match the files that are written here.
  if (modified) await fs.promises.rm(path.join(root, "dist/.tsbuildinfo"), { force: true });
  const diagnostics = [
    ...emitted.flatMap((file) => program.emit(file).diagnostics),
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ];
  diagnostics.push(...ts.getPreEmitDiagnostics(consoleProgram()));
  if (modified) await finishBuild(diagnostics.length === 0 ? modified : undefined);
  if (diagnostics.length === 0) return;
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => "\n" };
  console.log(ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(diagnostics), host));
  process.exitCode = 1;
}

/** The console is type-checked separately, with the types of browsers. */
function consoleProgram() {
  const { options, fileNames } = configOf("console/tsconfig.json");
  return ts.createProgram({ rootNames: fileNames, options });
}

/** @param {string} name */
function configOf(name) {
  const file = path.join(root, name);
  return ts.parseJsonConfigFileContent(
    ts.readConfigFile(file, ts.sys.readFile).config,
    ts.sys,
    path.dirname(file),
    {},
    file,
  );
}

/** @param {ts.SourceFile} file */
function isInPackage({ fileName, isDeclarationFile }) {
  const [first = "", ...rest] = path.relative(root, fileName).split(path.sep);
  return rest.length === 0
    ? first.endsWith(".json")
    : sourceDirectories.includes(first) && !isDeclarationFile;
}

void checkTypes();
