import { routes } from "../../contract";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const imports = `import * as recommender from "pulumi-recommender";\n`;
const dataset = (name: string, args: string, options = "{}") =>
  `new recommender.EventDataset("${name}", ${args}, ${options});\n`;

describe("the engine's own options", () => {
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

  test("retainOnDelete, ignoreChanges, aliases and deleteBeforeReplace do what they say", async () => {
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

  test("protect forbids a replacement and a delete", async () => {
    await up(dataset("guarded", "{ numShards: 1 }", "{ protect: true }"));
    await expect(up(dataset("guarded", "{ numShards: 2 }", "{ protect: true }"))).rejects.toThrow(/protect/);
    await expect(up()).rejects.toThrow(/protect/);
    expect(await named("guarded")).toHaveLength(1);
    await up(dataset("guarded", "{ numShards: 1 }"));
  });

  test("existingId takes over what is there, refuses what cannot be made to fit, and may be left out afterwards", async () => {
    const { eventDatasetId } = await observed.call(routes.createEventDataset, {
      name: "legacy",
      numShards: 3,
    });
    const adopted = (args: string) => dataset("adopted", `{ existingId: "${eventDatasetId}", ${args} }`);
    await expect(up(adopted("numShards: 4"))).rejects.toThrow(
      /EventDataset adopted: existingId \S+: it has 3 shards and 4 are declared.*declare numShards: 3/,
    );
    const calls = await up(adopted("numShards: 3"));
    expect(calls).toContain("PUT /update-event-dataset");
    expect(calls).not.toContain("POST /create-event-dataset");
    expect(await named("adopted")).toMatchObject([{ eventDatasetId, numShards: 3 }]);
    expect(await up(dataset("adopted", "{ numShards: 3 }"))).toEqual([]);
    expect(await up()).toEqual(["DELETE /delete-event-dataset"]);
  });

  test("a bad argument fails the preview with its path and its rule, before any call", async () => {
    const bad = up(dataset("bad", `{ numShards: 1, attributeSchema: { age: "NUMBER" as never } }`));
    await expect(bad).rejects.toThrow(/attributeSchema\.age.*expected NUMERICAL or CATEGORICAL/s);
    expect(observed.calls()).toEqual([]);
  });

  test("lookups read the service from within a program, also from outputs", async () => {
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

test("missing and contradictory configuration fails before the first call and shows the command that mends it", async () => {
  const source = imports + dataset("x", "{ numShards: 1 }");
  const workspace = await engineWorkspace(source, { RECOMMENDER_BASE_URL: "https://recommender.invalid" });
  await expect(workspace.stack.preview()).rejects.toThrow(
    /recommender:apiKey is not set.*pulumi config set --secret recommender:apiKey VALUE/,
  );
  await workspace.dispose();
});
