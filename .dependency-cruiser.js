/**
 * Which way imports point; `npm run check` holds it, types included. In each tree a room may import from the lines
 * below its own, and rooms on one line do not import each other. `*` stands for the files at the top of the tree.
 */
const orders = {
  ".": ["cli", "provider", "records", "client", "console", "service", "contract"],
  provider: ["index", "program plugin", "dynamic", "*", "jobs records", "lifecycle", "recovery", "run"],
  service: [
    "*",
    "http",
    "console",
    "handlers",
    "jobs",
    "serving",
    "threads",
    "backup",
    "files",
    "store",
    "base algorithms",
  ],
  "service/algorithms": ["index", "inference", "training", "ranking", "*", "kernel"],
};

const forbidden = [
  {
    name: "no-circle",
    comment: "These files import each other in a circle. Move what they share into a file below both.",
    from: {},
    to: { circular: true },
  },
  {
    name: "contract-imports-zod-only",
    comment: "The contract is what the API says; it needs nothing but zod.",
    from: { path: "^contract/" },
    to: { pathNot: ["^contract/", "node_modules/zod/"] },
  },
  {
    name: "algorithms-are-mathematics",
    comment: "The mathematics knows nothing of HTTP, SQL or files.",
    from: { path: "^service/algorithms/.*\\.ts$" },
    to: { pathNot: "^service/algorithms/" },
  },
  {
    name: "pulumi-in-provider-only",
    comment: "This must work without Pulumi; only provider/ and cli/ import it.",
    from: { path: "^(contract|client|records|service)/" },
    to: { path: "(node_modules/|^)@pulumi/" },
  },
  {
    name: "sdk-in-carriers-only",
    comment:
      "Another carrier runs this without Pulumi's SDK, which takes half a second to load; only provider/program " +
      "and provider/dynamic import it, others its types alone.",
    from: { path: "^provider/", pathNot: "^provider/(program|dynamic)/" },
    to: {
      path: "(node_modules/|^)@pulumi/pulumi/",
      pathNot: "@pulumi/pulumi/proto/",
      dependencyTypesNot: ["type-only"],
    },
  },
  {
    name: "protocol-in-plugin-only",
    comment: "Only provider/plugin speaks Pulumi's protocol; the rest knows lifecycles.",
    from: { path: "^(cli|provider|records|client|service|contract)/", pathNot: "^provider/plugin/" },
    to: { path: "(node_modules/|^)(@grpc/|google-protobuf/|@pulumi/pulumi/proto/)" },
  },
  {
    name: "plugin-without-the-other-carrier",
    comment:
      "The plugin keeps the stub of a dynamic resource for a stack that goes back; it loads nothing else of it.",
    from: { path: "^provider/plugin/" },
    to: { path: "^provider/dynamic/", pathNot: "^provider/dynamic/stub\\.ts$" },
  },
  {
    name: "service-by-its-doors",
    comment:
      "Import the service from service/index, or from service/embedded, which loads in a tenth of the time.",
    from: { path: "^(cli|provider|records|client)/" },
    to: { path: "^service/", pathNot: "^service/(index|embedded)\\.ts$" },
  },
  {
    name: "page-imports-only-response-types",
    comment: "The page runs in a browser, so it imports only the types of the service's responses.",
    from: { path: "^console/" },
    to: { path: "^(service|contract)/", pathNot: "^service/console/responses\\.ts$" },
  },
  {
    name: "page-is-reached-by-http",
    comment: "The page is bundled for browsers; nothing else imports it.",
    from: { pathNot: "^console/" },
    to: { path: "^console/" },
  },
  ...Object.entries(orders).flatMap(([tree, lines]) => rulesOf(tree, lines)),
];

/** What an order forbids. @param {string} tree @param {readonly string[]} lines */
function rulesOf(tree, lines) {
  const inside = tree === "." ? "^" : `^${tree}/`;
  const rooms = lines.flatMap((line) => line.split(" "));
  /** @param {string} room */
  const named = (room) => `${inside}${room}(/|\\.ts$)`;
  const others = rooms.filter((room) => room !== "*").map(named);
  /** @param {string} room */
  const filesOf = (room) =>
    room === "*" ? { path: `${inside}[^/]+\\.ts$`, pathNot: others } : { path: named(room) };

  const directions = lines.flatMap((line, at) =>
    line.split(" ").map((room) => ({
      room,
      barred: lines
        .slice(0, at + 1)
        .flatMap((above) => above.split(" "))
        .filter((other) => other !== room),
    })),
  );
  const upward = directions.flatMap(({ room, barred }) =>
    barred.map((other) => ({
      name: `${tree}: ${room} never imports ${other}`,
      comment: `In ${tree} imports point one way: ${lines.map((line) => line.replaceAll(" ", ", ")).join(" → ")}.`,
      from: filesOf(room),
      to: filesOf(other),
    })),
  );
  if (tree === ".") return upward;
  const unlisted = {
    name: `${tree}: every room has its line`,
    comment: "Give the new folder its line in .dependency-cruiser.js.",
    from: {},
    to: { path: `${inside}[^/]+/`, pathNot: others },
  };
  return [...upward, unlisted];
}

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: forbidden.map((rule) => ({ severity: "error", ...rule })),
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    // Types count too.
    tsPreCompilationDeps: true,
  },
};
