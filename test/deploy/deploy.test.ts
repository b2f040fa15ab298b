import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv, { type ValidateFunction } from "ajv";
import { globSync } from "tinyglobby";
import { parse, parseAllDocuments } from "yaml";

const root = join(__dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });

/** Returns the errors of a value against a schema, one line per path. */
function faults(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

describe("compose.yaml", () => {
  const text = read("deploy/compose.yaml");
  const compose = parse(text, { merge: true });
  const validate = ajv.compile(JSON.parse(read("test/deploy/compose.schema.json")));

  test("matches the Compose Specification, which rejects unknown keys", () => {
    expect(faults(validate, compose)).toEqual([]);
    const odd = { ...compose, services: { ...compose.services, odd: { image: "x", restrat: "always" } } };
    expect(faults(validate, odd).join()).toContain("restrat");
  });

  test("runs two API processes and two workers with one database, and exposes only the proxy", () => {
    const { postgres, proxy, worker, ...apis } = compose.services;
    expect(Object.keys(apis)).toEqual(["api-1", "api-2"]);
    for (const api of Object.values(apis))
      expect(api).toMatchObject({ environment: { RECOMMENDER_ROLE: "api" } });
    expect(worker).toMatchObject({ environment: { RECOMMENDER_ROLE: "worker" }, deploy: { replicas: 2 } });
    expect(postgres).toMatchObject({
      image: "postgres:17",
      command: expect.arrayContaining(["-c", "max_connections=200"]),
    });
    const open = Object.entries<{ ports?: unknown }>(compose.services).filter(([, { ports }]) => ports);
    expect(open.map(([name]) => name)).toEqual(["proxy"]);
    const caddy = read("deploy/Caddyfile");
    expect(caddy).toContain(
      `reverse_proxy ${Object.keys(apis)
        .map((name) => `${name}:8080`)
        .join(" ")} {`,
    );
    expect(proxy.volumes).toContain("./Caddyfile:/etc/caddy/Caddyfile:ro");
  });

  test("takes every secret from the environment, without defaults, and explains where to set it", () => {
    const taken = [...text.matchAll(/\$\{(\w+)([^}]*)\}/g)];
    for (const [, , otherwise] of taken) expect(otherwise).toMatch(/^:\?put it into deploy\/\.env, /);
    const names = [...read("deploy/env.example").matchAll(/^(\w+)=(.*)$/gm)];
    expect(new Set(names.map(([, name]) => name))).toEqual(new Set(taken.map(([, name]) => name)));
    for (const [, , value] of names) expect(value).toBe("");
  });
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Record<string, never>;
}

describe("the Kubernetes manifests", () => {
  const schema = JSON.parse(read("test/deploy/kubernetes.schema.json"));
  ajv.addSchema(schema, "kubernetes");
  const files = globSync("deploy/kubernetes/*", { cwd: root });
  const manifests = files.flatMap((file) =>
    parseAllDocuments(read(file)).map((document) => document.toJS() as Manifest),
  );
  const find = (kind: string, name: string) =>
    manifests.find((one) => one.kind === kind && one.metadata.name === name) as Manifest;

  /** Finds the schema of a kind by its name and version. */
  function faultsOf(manifest: Manifest): string[] {
    const [name] =
      Object.entries<{ properties?: Record<string, { enum?: string[] }> }>(schema.definitions).find(
        ([, { properties }]) =>
          properties?.kind?.enum?.includes(manifest.kind) &&
          properties.apiVersion?.enum?.includes(manifest.apiVersion),
      ) ?? [];
    if (name === undefined) return [`there is no ${manifest.kind} in ${manifest.apiVersion}`];
    return faults(ajv.getSchema(`kubernetes#/definitions/${name}`) as ValidateFunction, manifest);
  }

  test("match the Kubernetes schemas, which reject unknown fields", () => {
    expect(manifests.map((one) => [one.metadata.name, faultsOf(one)])).toEqual(
      manifests.map((one) => [one.metadata.name, []]),
    );
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([
      ...["Deployment", "Deployment", "HorizontalPodAutoscaler", "Ingress", "NetworkPolicy"],
      ...["PodDisruptionBudget", "PodDisruptionBudget", "Secret", "Service"],
    ]);
    const worker = find("Deployment", "recommender-worker");
    expect(faultsOf({ ...worker, spec: { ...worker.spec, replica: 2 as never } }).join()).toContain(
      "replica",
    );
    expect(faultsOf({ ...worker, apiVersion: "apps/v2" })).toEqual(["there is no Deployment in apps/v2"]);
  });

  test.each(["api", "worker"])("give the %s its role, probes, no privileges, and time to stop", (role) => {
    const { template } = find("Deployment", `recommender-${role}`).spec as unknown as {
      template: { spec: Record<string, never> & { containers: [Record<string, never>] } };
    };
    const [container] = template.spec.containers;
    // The process stops within 20 s, after 5 s in which it still accepts calls.
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(role === "api" ? 25 : 20);
    expect(template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
      volumes: [{ name: "tmp" }],
    });
    expect(container).toMatchObject({
      env: expect.arrayContaining([{ name: "RECOMMENDER_ROLE", value: role }]),
      envFrom: [{ secretRef: { name: find("Secret", "recommender").metadata.name } }],
      readinessProbe: { httpGet: { path: "/readyz", port: "http" } },
      livenessProbe: { httpGet: { path: "/healthz", port: "http" } },
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
      volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
    });
  });

  test("contain no secret, so applying the directory does not overwrite secrets", () => {
    const { stringData } = find("Secret", "recommender") as unknown as { stringData: Record<string, string> };
    expect(stringData).toEqual({ RECOMMENDER_API_KEY: "", RECOMMENDER_STORE: "" });
    expect(files.filter((file) => /\.ya?ml$/.test(file) && read(file).includes("kind: Secret"))).toEqual([]);
  });
});

test("the image runs the built command as an unprivileged user, with the locked packages", () => {
  const lines = read("deploy/Dockerfile").replaceAll("\\\n", "").split("\n");
  const of = (instruction: string) => lines.filter((line) => line.startsWith(`${instruction} `));
  const { engines, bin } = JSON.parse(read("package.json"));
  const versions = of("FROM").map((line) => Number(/node:(\d+)-slim/.exec(line)?.[1]));
  for (const version of versions)
    expect(version).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]));
  expect(of("USER")).toEqual(["USER node"]);
  expect(of("RUN").filter((line) => line.includes("npm ci"))).toHaveLength(2);
  expect(of("ENTRYPOINT")).toEqual([`ENTRYPOINT ["tini", "--", "node", "${join("/app", bin.recommender)}"]`]);
  expect(of("HEALTHCHECK")[0]).toContain("http://127.0.0.1:8080/readyz");
});
