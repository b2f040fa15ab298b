/**
 * The allowed import directions, including imports of types. `npm run check` enforces them. In each tree, a directory may
 * import from the lines below its own. Directories on one line must not import each other. `*` means the files at the top
 * of the tree.
 */
const layers = {
  ".": ["cli", "provider", "records", "client", "console", "service", "expressions", "telemetry contract"],
  provider: [
    "index",
    "program plugin policy",
    "dynamic",
    "*",
    "jobs records",
    "lifecycle",
    "recovery",
    "run",
  ],
  service: [
    "*",
    "http",
    "console",
    "handlers",
    "jobs",
    "batch",
    "serving",
    "threads",
    "backup",
    "files",
    "store",
    "base algorithms",
  ],
  "service/algorithms": ["index", "inference", "training", "ranking", "order", "*", "kernel"],
};

const forbidden = [
  {
    name: "no-cycles",
    comment: "These files form an import cycle. Move the shared code to a file that both can import.",
    from: {},
    to: { circular: true },
  },
  {
    name: "contract-imports-zod-only",
    comment: "The contract defines the API and may import only zod.",
    from: { path: "^contract/" },
    to: { pathNot: ["^contract/", "node_modules/zod/"] },
  },
  {
    name: "telemetry-imports-node-only",
    comment: "Every process loads this directory, so it may import only modules of Node.",
    from: { path: "^telemetry/" },
    to: { pathNot: ["^telemetry/", "^package\\.json$"], dependencyTypesNot: ["core"] },
  },
  {
    name: "algorithms-are-mathematics",
    comment: "Algorithms are pure math, without HTTP, SQL or files.",
    from: { path: "^service/algorithms/.*\\.ts$" },
    to: { pathNot: "^service/algorithms/" },
  },
  {
    name: "pulumi-in-provider-only",
    comment: "This code must work without Pulumi. Only provider/ and cli/ may import it.",
    from: { path: "^(contract|expressions|client|records|service)/" },
    to: { path: "(node_modules/|^)@pulumi/" },
  },
  {
    name: "sdk-in-bindings-only",
    comment:
      "The plugin binding runs this code without the Pulumi SDK, which takes half a second to load. Only " +
      "provider/program and provider/dynamic may import it; other code may import its types.",
    from: { path: "^provider/", pathNot: "^provider/(program|dynamic)/" },
    to: {
      path: "(node_modules/|^)@pulumi/pulumi/",
      pathNot: "@pulumi/pulumi/proto/",
      dependencyTypesNot: ["type-only"],
    },
  },
  {
    name: "protocol-in-plugin-only",
    comment: "Only provider/plugin may use Pulumi's gRPC protocol.",
    from: {
      path: "^(cli|provider|records|client|service|expressions|contract)/",
      pathNot: "^provider/plugin/",
    },
    to: { path: "(node_modules/|^)(@grpc/|google-protobuf/|@pulumi/pulumi/proto/)" },
  },
  {
    name: "plugin-without-dynamic-binding",
    comment:
      "The plugin may import only the stub of the dynamic binding, which it keeps for stacks that switch back.",
    from: { path: "^provider/plugin/" },
    to: { path: "^provider/dynamic/", pathNot: "^provider/dynamic/stub\\.ts$" },
  },
  {
    name: "service-by-its-entry-points",
    comment:
      "Import service/index or service/embedded, which loads ten times faster, but no internals of the service.",
    from: { path: "^(cli|provider|records|client)/" },
    to: { path: "^service/", pathNot: "^service/(index|embedded)\\.ts$" },
  },
  {
    name: "dialects-in-store-only",
    comment: "Only service/store knows which database it uses. Ask `store.isShared` instead.",
    from: { path: "^service/", pathNot: "^service/store/" },
    to: { path: "^service/store/dialect\\.ts$" },
  },
  {
    name: "console-by-response-types",
    comment: "The console runs in a browser and may import only the types of responses from the service.",
    from: { path: "^console/" },
    to: { path: "^(service|contract)/", pathNot: "^service/console/responses\\.ts$" },
  },
  {
    name: "console-only-over-http",
    comment: "The console is bundled for browsers, so no other code may import it.",
    from: { pathNot: "^console/" },
    to: { path: "^console/" },
  },
  {
    name: "web-alone",
    comment:
      "The client for web pages is a separate package without dependencies, so it may only import its own files.",
    from: { path: "^web/" },
    to: { pathNot: "^web/" },
  },
  {
    name: "web-is-a-package",
    comment: "Programs get the client for web pages from its package.",
    from: { pathNot: "^(web|test)/" },
    to: { path: "^web/" },
  },
  ...Object.entries(layers).flatMap(([tree, lines]) => rulesOf(tree, lines)),
];

/** Returns the rules that enforce the layers of a tree. @param {string} tree @param {readonly string[]} lines */
function rulesOf(tree, lines) {
  const inside = tree === "." ? "^" : `^${tree}/`;
  const directories = lines.flatMap((line) => line.split(" "));
  /** @param {string} directory */
  const named = (directory) => `${inside}${directory}(/|\\.ts$)`;
  const known = directories.filter((directory) => directory !== "*").map(named);
  /** @param {string} directory */
  const filesOf = (directory) =>
    directory === "*" ? { path: `${inside}[^/]+\\.ts$`, pathNot: known } : { path: named(directory) };

  const directions = lines.flatMap((line, at) =>
    line.split(" ").map((directory) => ({
      directory,
      barred: lines
        .slice(0, at + 1)
        .flatMap((above) => above.split(" "))
        .filter((other) => other !== directory),
    })),
  );
  const upward = directions.flatMap(({ directory, barred }) =>
    barred.map((other) => ({
      name: `${tree}: ${directory} never imports ${other}`,
      comment: `In ${tree}, imports must point to the right: ${lines.map((line) => line.replaceAll(" ", ", ")).join(" → ")}.`,
      from: filesOf(directory),
      to: filesOf(other),
    })),
  );
  if (tree === ".") return upward;
  const unlisted = {
    name: `${tree}: every directory has a layer`,
    comment: "Add the new directory to `layers` in .dependency-cruiser.js.",
    from: {},
    to: { path: `${inside}[^/]+/`, pathNot: known },
  };
  return [...upward, unlisted];
}

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: forbidden.map((rule) => ({ severity: "error", ...rule })),
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    // Include imports of types.
    tsPreCompilationDeps: true,
  },
};
