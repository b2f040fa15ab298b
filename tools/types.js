const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");
const { finishBuild, prepareBuild, root, rooms } = require("./setup.js");

/** `node tools/types.js`: checks the types of everything; what is of the package is written to dist/ on the way. */
async function checkTypes() {
  const build = configOf("tsconfig.build.json");
  const { options, fileNames } = configOf("tsconfig.json");
  const program = ts.createProgram({
    rootNames: fileNames,
    options: { ...build.options, ...options, noEmit: false },
    configFileParsingDiagnostics: build.errors,
  });
  const built = await prepareBuild();
  const written = built ? program.getSourceFiles().filter(isOfPackage) : [];
  // What the incremental compiler remembers is not of these files.
  if (built) await fs.promises.rm(path.join(root, "dist/.tsbuildinfo"), { force: true });
  const diagnostics = [
    ...written.flatMap((file) => program.emit(file).diagnostics),
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ];
  diagnostics.push(...ts.getPreEmitDiagnostics(pageProgram()));
  if (built) await finishBuild(diagnostics.length === 0 ? built : undefined);
  if (diagnostics.length === 0) return;
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => "\n" };
  console.log(ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(diagnostics), host));
  process.exitCode = 1;
}

/** The web page, which is for browsers. */
function pageProgram() {
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
function isOfPackage({ fileName, isDeclarationFile }) {
  const [room = "", ...inside] = path.relative(root, fileName).split(path.sep);
  return inside.length === 0 ? room.endsWith(".json") : rooms.includes(room) && !isDeclarationFile;
}

void checkTypes();
