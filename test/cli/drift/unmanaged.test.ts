import { orphansOf, takeInventory, unmanagedOf } from "../../../cli/drift/unmanaged";

test("an object that any stack manages is not listed, and each other object is listed once", () => {
  const entry = (id: string) => ({ kind: "unmanaged" as const, type: "EventDataset" as const, id, name: id });
  const all = ["a", "b", "c"].map(entry);
  const inventories = [
    { service: "one", found: all, orphans: [], managed: new Set(["a"]) },
    { service: "one", found: all, orphans: [], managed: new Set(["b"]) },
    { service: "two", found: all, orphans: [], managed: new Set<string>() },
    undefined,
  ];
  expect(unmanagedOf(inventories).map((found) => found.map(({ id }) => id))).toEqual([
    ["c"],
    [],
    ["a", "b", "c"],
    [],
  ]);
});

test("an orphan is listed by the stack that left it, or by the first stack of its service, unless a stack manages it", () => {
  const entry = (id: string, leftBy?: string) => ({
    type: "Project" as const,
    id,
    name: id,
    ...(leftBy && { leftBy }),
  });
  const orphans = [
    entry("a", "shop/dev/p"),
    entry("b", "shop/prod/p"),
    entry("c", "shop/gone/p"),
    entry("d"),
    entry("e"),
  ];
  const listed = (stack: string, service: string, managed: string[] = []) => ({
    project: "shop",
    stack,
    inventory: { service, found: [], orphans, managed: new Set(managed) },
  });
  const none = { project: "shop", stack: "none", inventory: undefined };
  const stacks = [listed("dev", "one"), listed("prod", "one", ["e"]), listed("test", "two"), none];
  expect(orphansOf(stacks).map((found) => found.map(({ id }) => id))).toEqual([
    ["a", "c", "d"],
    ["b"],
    ["a", "b", "c", "d", "e"],
    [],
  ]);
});

test("resources of an explicit provider are not searched in the service of the stack", async () => {
  const connect = () => Promise.reject(new Error("it was asked"));
  const row = (provider: string) => ({
    urn: "urn:pulumi:dev::shop::recommender:index:Project::p",
    type: "recommender:index:Project",
    id: "project-1",
    provider: `urn:pulumi:dev::shop::pulumi:providers:recommender::${provider}::0c4a`,
  });
  expect(await takeInventory([row("elsewhere")], connect)).toBeUndefined();
  for (const provider of ["default", "default_0_1_0"])
    await expect(takeInventory([row(provider)], connect)).rejects.toThrow("it was asked");
});
