import { Claims } from "../../../provider/run/claims";
import type { BackendEntries } from "../../../provider/run/stack-state";
import { type StateEntry, stateEntryOf } from "../../../provider/run/state-entry";

const entry = (name: string, made: string | undefined, id = "x") =>
  stateEntryOf("EventDataset", id, { __urn: `urn:pulumi:s::p::t::${name}`, ...(made && { __made: made }) });

/** Returns the entries that delete the object, if they are released in this order. */
async function deleting(
  stored: readonly StateEntry[],
  released: readonly StateEntry[],
  added: readonly StateEntry[] = [],
) {
  const claims = new Claims({ entries: async () => stored });
  for (const each of added) claims.add(each);
  const outcomes = await Promise.all(
    released.map((each) => claims.release(each, async (user) => (user ? [] : [each.urn + each.made]))),
  );
  return outcomes.flat();
}

test.each<[string, StateEntry[], StateEntry[], StateEntry[], number]>([
  ["one entry", [entry("a", "1")], [entry("a", "1")], [], 1],
  ["one of two entries", [entry("a", "1"), entry("b", "2")], [entry("a", "1")], [], 0],
  ["both entries at once", [entry("a", "1"), entry("b", "2")], [entry("a", "1"), entry("b", "2")], [], 1],
  ["a entry whose replacement has adopted it", [entry("a", "1")], [entry("a", "1")], [entry("a", "2")], 0],
  [
    "a replaced entry of an earlier run, next to its replacement",
    [entry("a", "1"), entry("a", "2")],
    [entry("a", "1")],
    [],
    0,
  ],
  [
    "the same with entries of a version without tokens",
    [entry("a", undefined), entry("a", undefined)],
    [entry("a", undefined)],
    [],
    0,
  ],
  [
    "both of these",
    [entry("a", undefined), entry("a", undefined)],
    [entry("a", undefined), entry("a", undefined)],
    [],
    1,
  ],
  ["a entry that was renamed without an alias", [entry("a", "1")], [entry("a", "1")], [entry("b", "2")], 0],
  ["a entry beside one of another thing", [entry("a", "1"), entry("b", "2", "y")], [entry("a", "1")], [], 1],
])(
  "releasing %s deletes the object only if no other entry references it",
  async (_, stored, released, added, deletions) => {
    expect(await deleting(stored, released, added)).toHaveLength(deletions);
  },
);

test("an object that both bindings have replaced is deleted by one of them", async () => {
  const leaving = (type: string, made: string): StateEntry => ({
    ...stateEntryOf("EventDataset", "x", { __urn: `urn:pulumi:s::p::${type}:EventDataset::a`, __made: made }),
    isPendingDelete: true,
  });
  const [dynamic, plugin] = [
    leaving("pulumi-nodejs:dynamic/recommender", "1"),
    leaving("recommender:index", "2"),
  ];
  expect(await deleting([dynamic, plugin], [dynamic])).toHaveLength(1);
  expect(await deleting([dynamic, plugin], [plugin])).toHaveLength(1);
  expect(await deleting([dynamic, { ...plugin, isPendingDelete: false }], [dynamic])).toEqual([]);
  expect(await deleting([dynamic, { ...dynamic, made: "3" }], [dynamic])).toEqual([]);
});

test("an entry that waits for deletion protects its object from the other binding", async () => {
  const at = (type: string, made: string, isLeaving: boolean): StateEntry => ({
    ...stateEntryOf("EventDataset", "x", { __urn: `urn:pulumi:s::p::${type}:EventDataset::a`, __made: made }),
    isPendingDelete: isLeaving,
  });
  const leaving = at("recommender:index", "1", true);
  const own = at("pulumi-nodejs:dynamic/recommender", "2", false);
  expect(await deleting([leaving, own], [own])).toEqual([]);
  // The state shows that the other binding has released it since.
  let reads = 0;
  const claims = new Claims({ entries: async () => (++reads === 1 ? [leaving, own] : [leaving]) });
  await claims.release(leaving, async (user) => expect(user).toBeUndefined());
});

test("the same id in another service is a different object", async () => {
  const at = (name: string, __service?: string) =>
    stateEntryOf("EventDataset", "1", {
      __urn: `urn:pulumi:s::p::t::${name}`,
      __made: name,
      ...(__service && { __service }),
    });
  const [one, other] = [at("a", "https://one.example.com/"), at("b", "https://other.example.com")];
  expect(await deleting([one, other], [one])).toHaveLength(1);
  expect(await deleting([one, at("b", "https://one.example.com")], [one])).toEqual([]);
  expect(await deleting([one, at("b")], [one])).toEqual([]);
});

test("nothing is deleted while the state is unreadable, and a readable state is read once", async () => {
  let reads = 0;
  const claims = new Claims({
    entries: async () => {
      if (++reads === 1) throw new Error("no state");
      return [entry("a", "1"), entry("b", "2", "y")];
    },
  });
  const deleted: string[] = [];
  const give = (each: StateEntry) => claims.release(each, async () => void deleted.push(each.id));
  await expect(give(entry("a", "1"))).rejects.toThrow("no state");
  expect(deleted).toEqual([]);
  await give(entry("a", "1"));
  await give(entry("b", "2", "y"));
  expect(deleted).toEqual(["x", "y"]);
  expect(reads).toBe(2);
});

test("a failed deletion keeps the reference", async () => {
  const claims = new Claims({ entries: async () => [entry("a", "1"), entry("b", "2")] });
  await claims.release(entry("b", "2"), async (user) => expect(user).toMatchObject({ made: "1" }));
  await expect(claims.release(entry("a", "1"), () => Promise.reject(new Error("refused")))).rejects.toThrow();
  await claims.release(entry("a", "1"), async (user) => expect(user).toBeUndefined());
});

describe("an object that a resource of another stack has adopted", () => {
  const inStack = (stack: string, more: Partial<StateEntry> = {}): StateEntry => ({
    ...stateEntryOf("EventDataset", "x", { __urn: `urn:pulumi:${stack}::p::t::a`, __made: stack }),
    ...more,
  });
  /** Returns the entry for which the object stays if stack `dev` releases it. */
  const userOf = (own: StateEntry, others: readonly StateEntry[], unread: readonly string[] = []) => {
    const backend: BackendEntries = { entries: [own, ...others], lineages: new Map(), unread };
    const claims = new Claims({ entries: async () => [own] }, async () => backend);
    return claims.release(own, async (user) => user && [user.urn, claims.isOfOtherStack(user)]);
  };

  test("stays", async () => {
    expect(await userOf(inStack("dev"), [inStack("prod")])).toEqual([inStack("prod").urn, true]);
    expect(await userOf(inStack("dev"), [inStack("prod", { isPendingDelete: true })])).toBeDefined();
  });

  test("stays if the other stack is a copy of this one", async () => {
    expect(await userOf(inStack("dev"), [inStack("prod", { made: "dev" })])).toBeDefined();
  });

  test.each<[string, Partial<StateEntry>, Partial<StateEntry>]>([
    ["it is of another type", {}, { type: "Model" }],
    ["it is in another service", { service: "https://a.example.com" }, { service: "https://b.example.com" }],
    [
      "it is in another embedded service with the same relative address",
      { service: "embedded:data", instance: "1" },
      { service: "embedded:data", instance: "2" },
    ],
    ["it is of another project", { projectId: "project-1" }, { projectId: "project-2" }],
  ])("is deleted if the object of the other stack is a different one: %s", async (_, own, other) => {
    expect(await userOf(inStack("dev", own), [inStack("prod", other)])).toBeUndefined();
  });

  test("is deleted if the state of the other stack cannot be read", async () => {
    expect(await userOf(inStack("dev"), [], ["prod"])).toBeUndefined();
  });

  test("is deleted by a renamed stack, whose properties still have the old name", async () => {
    const stored = inStack("prod", { made: "dev" });
    const backend: BackendEntries = { entries: [stored], lineages: new Map(), unread: [] };
    const claims = new Claims({ entries: async () => [stored] }, async () => backend);
    await claims.release(inStack("dev"), async (user) => expect(user).toBeUndefined());
  });
});
