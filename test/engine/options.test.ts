import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const imports = `import * as pulumi from "@pulumi/pulumi";\nimport * as recommender from "pulumi-recommender";\n`;
const dataset = (name: string, args: string, options = "{}") =>
  `new recommender.EventDataset("${name}", ${args}, ${options});\n`;

describe("resource options of the engine", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;

  beforeAll(async () => {
    observed = await ObservedService.start();
    workspace = await engineWorkspace(imports, observed.environment);
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
  });

  const up = async (...lines: string[]) => {
    await workspace.setProgram(imports + lines.join(""));
    observed.calls();
    await workspace.stack.up();
    return observed.calls();
  };
  const named = async (name: string) => {
    const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
    return eventDatasets.filter((dataset) => dataset.name === name);
  };

  test("retainOnDelete, ignoreChanges, aliases and deleteBeforeReplace work", async () => {
    await up(
      dataset("kept", "{ numShards: 1 }", "{ retainOnDelete: true }"),
      dataset("ignored", "{ numShards: 1 }", `{ ignoreChanges: ["name", "numShards"] }`),
      dataset("old", `{ numShards: 1, name: "same" }`),
      dataset("swapped", "{ numShards: 1 }", "{ deleteBeforeReplace: true }"),
    );
    const calls = await up(
      dataset("ignored", `{ numShards: 2, name: "other" }`, `{ ignoreChanges: ["name", "numShards"] }`),
      dataset("new", `{ numShards: 1, name: "same" }`, `{ aliases: [{ name: "old" }] }`),
      dataset("swapped", "{ numShards: 2 }", "{ deleteBeforeReplace: true }"),
    );
    expect(calls).toEqual(["DELETE /delete-event-dataset", "POST /create-event-dataset"]);
    expect(await named("kept")).toHaveLength(1);
    expect(await named("ignored")).toMatchObject([{ numShards: 1 }]);
    expect(await named("swapped")).toMatchObject([{ numShards: 2 }]);
  });

  test("a default name stays the same after an alias, also of a component, and after a refresh", async () => {
    const program = (stem: string, former: string) => {
      const options = former ? `{ aliases: [{ name: "${former}" }] }` : "{}";
      return `
        class Shop extends pulumi.ComponentResource {
          constructor(name: string, options: pulumi.ComponentResourceOptions) {
            super("team:index:Shop", name, {}, options);
            const parent = { parent: this };
            const users = new recommender.UserDataset(name + "-users", { numShards: 1 }, parent);
            const items = new recommender.ItemDataset(name + "-items", { numShards: 1 }, parent);
            const events = new recommender.EventDataset(name + "-events", { numShards: 1 }, parent);
            const project = new recommender.Project(name + "-shop", {
              userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "buy",
            }, parent);
            new recommender.Algorithm(name + "-g1", { projectId: project.id }, parent);
          }
        }
        new Shop("${stem}", ${options});
        export const name = new recommender.UserDataset("${stem}-people", { numShards: 1 },
          ${former ? `{ aliases: [{ name: "${former}-people" }] }` : "{}"}).name;
      `;
    };
    await up(program("first", ""));
    for (const [stem, former] of [
      ["second", "first"],
      ["third", "second"],
    ] as const) {
      expect(await up(program(stem, former))).toEqual([]);
      expect((await workspace.stack.outputs()).name?.value).toBe("first-people");
      await workspace.stack.refresh();
    }
    expect(await named("first-events")).toHaveLength(1);
  });

  test("replaceOnChanges replaces a resource that would be updated in place", async () => {
    await up(dataset("strict", `{ numShards: 1, name: "one" }`, `{ replaceOnChanges: ["name"] }`));
    const [{ eventDatasetId: former } = {}] = await named("one");
    await up(dataset("strict", `{ numShards: 1, name: "two" }`, `{ replaceOnChanges: ["name"] }`));
    const [{ eventDatasetId: present } = {}] = await named("two");
    expect(present).toBeDefined();
    expect(present).not.toBe(former);
  });

  test("a preview warns that a forced replacement deletes events", async () => {
    const says = (name: string) =>
      `Replacing EventDataset ${name} deletes its events, unless retainOnDelete is set: requested by --replace, replaceOnChanges, replacementTrigger or replaceWith.`;
    const strict = (shards: number) => dataset("other", `{ numShards: ${shards} }`);
    const last = "new recommender.EventDataset";
    await up(strict(1), dataset("forced", "{ numShards: 1 }", `{ replacementTrigger: "one" }`));
    await workspace.setProgram(
      `${imports}const other = ${strict(2)}${last}("forced", { numShards: 1 }, { replacementTrigger: "two" });`,
    );
    expect((await workspace.stack.preview()).stdout).toContain(says("forced"));
    await workspace.setProgram(
      `${imports}const other = ${strict(2)}${last}("forced", { numShards: 1 }, { replacementTrigger: "one", replaceWith: [other] });`,
    );
    expect((await workspace.stack.preview()).stdout).toContain(says("forced"));
    await up(dataset("forced", "{ numShards: 1 }"));
    const { deployment } = await workspace.stack.exportStack();
    const { resources } = deployment as { resources: { urn: string }[] };
    const urn = resources.find((resource) => resource.urn.endsWith("::forced"))?.urn ?? "";
    observed.calls();
    const { stdout } = await workspace.stack.preview({ replace: [urn] });
    expect(stdout).toContain(says("forced"));
    expect(observed.calls()).toEqual([]);
  });

  test("continue-on-error skips dependents of a failure without further errors", async () => {
    await workspace.setProgram(`${imports}
      const users = new recommender.UserDataset("u", { numShards: 1 });
      const items = new recommender.ItemDataset("i", { numShards: 1 });
      const events = new recommender.EventDataset("e", { numShards: 1 });
      const project = new recommender.Project("p", {
        userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "buy",
      });
      const algorithm = new recommender.Algorithm("a", { projectId: project.id });
      const model = new recommender.Model("m", { projectId: project.id, algorithmId: algorithm.id });
      new recommender.Deployment("d", { projectId: project.id, generatorModelId: model.modelId });
      new recommender.EventDataset("other", { numShards: 1 }, { dependsOn: [algorithm] });
    `);
    const said = await workspace.stack.up({ continueOnError: true }).catch((error) => String(error));
    expect(said).toMatch(/nothing to learn from/);
    expect(said).not.toMatch(/has a problem|expected text|unexpected unknown/);
    expect(await named("other")).toHaveLength(1);
  });

  test("the constructor rejects unsupported options and keys, and names an alternative", async () => {
    const refused = async (line: string) => {
      await workspace.setProgram(imports + line);
      return workspace.stack.preview().then(({ stdout }) => stdout, String);
    };
    expect(await refused(dataset("x", "{ numShards: 1 }", `{ import: "event-dataset-1" }`))).toMatch(
      /EventDataset x: the option import .* existingId/,
    );
    expect(
      await refused(`
        new recommender.EventDataset("x",
          { numShards: 1, attributeSchema: JSON.parse('{"__proto__": "NUMERICAL"}') },
          { customTimeouts: { create: "1h" } });`),
    ).toMatch(/customTimeouts .* recommender:trainingTimeout.*attributeSchema has a key __proto__/s);
    expect(await refused(dataset("x", `{ numShards: 1, __firstName: "y" }`))).toMatch(
      /EventDataset x: __firstName: names that start with __ are reserved for this package/,
    );
    await workspace.stack.setConfig("recommender:baseurl", { value: "https://recommender.example.com" });
    expect(await refused(dataset("x", "{ numShards: 1 }"))).toMatch(
      /recommender:baseurl is unknown; did you mean baseUrl\? Remove it with `pulumi config rm recommender:baseurl`/,
    );
    await workspace.stack.removeConfig("recommender:baseurl");
  });

  test("protect forbids a replacement and a delete", async () => {
    await up(dataset("guarded", "{ numShards: 1 }", "{ protect: true }"));
    await expect(up(dataset("guarded", "{ numShards: 2 }", "{ protect: true }"))).rejects.toThrow(/protect/);
    await expect(up()).rejects.toThrow(/protect/);
    expect(await named("guarded")).toHaveLength(1);
    await up(dataset("guarded", "{ numShards: 1 }"));
  });

  test("existingId adopts an object, rejects one that cannot match the arguments, and can be removed afterwards", async () => {
    const { eventDatasetId } = await observed.call(routes.createEventDataset, {
      name: "legacy",
      numShards: 3,
    });
    const adopted = (args: string) => dataset("adopted", `{ existingId: "${eventDatasetId}", ${args} }`);
    const refusal = async (line: string) => {
      await workspace.setProgram(imports + line);
      return workspace.stack.preview().catch(String);
    };
    expect(await refusal(adopted("numShards: 4"))).toMatch(
      /'adopted' has a problem: existingId \S+: its numShards is 3 and cannot be changed, but 4 is declared/,
    );
    expect(await refusal(dataset("absent", `{ numShards: 1, existingId: "event-dataset-0" }`))).toMatch(
      /'absent' has a problem: existingId event-dataset-0: there is no such event dataset/,
    );
    const calls = await up(adopted("numShards: 3"));
    expect(calls).toContain("PUT /update-event-dataset");
    expect(calls).not.toContain("POST /create-event-dataset");
    expect(await named("adopted")).toMatchObject([{ eventDatasetId, numShards: 3 }]);
    expect(await up(dataset("adopted", "{ numShards: 3 }"))).toEqual([]);
    expect(await up()).toEqual(["DELETE /delete-event-dataset"]);
  });

  test("an invalid argument fails the preview with its path and rule, before any call", async () => {
    const bad = up(dataset("bad", `{ numShards: 1, attributeSchema: { age: "NUMBER" as never } }`));
    await expect(bad).rejects.toThrow(
      /resource 'bad' has a problem: attributeSchema\.age: expected NUMERICAL or CATEGORICAL/,
    );
    expect(observed.calls()).toEqual([]);
  });

  test("lookups in a program read the service, also with outputs as arguments", async () => {
    await up(`
      const made = new recommender.EventDataset("looked", { numShards: 1 });
      export const one = recommender.getEventDatasetOutput({ eventDatasetId: made.id });
      export const all = made.id.apply(async () => (await recommender.listEventDatasets()).eventDatasets.length);
    `);
    const { one, all } = await workspace.stack.outputs();
    expect(one?.value).toMatchObject({ name: "looked", numShards: 1 });
    expect(all?.value).toBe((await observed.call(routes.listEventDatasets, {})).eventDatasets.length);
  });
});

test("missing and contradictory configuration fails before the first call and shows the command that fixes it", async () => {
  const source = imports + dataset("x", "{ numShards: 1 }");
  const workspace = await engineWorkspace(source, { RECOMMENDER_BASE_URL: "https://recommender.invalid" });
  await expect(workspace.stack.preview()).rejects.toThrow(
    /recommender:apiKey is not set.*pulumi config set --secret recommender:apiKey VALUE/,
  );
  await workspace.dispose();
});
