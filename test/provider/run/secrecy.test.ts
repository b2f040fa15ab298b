import { log, setBinding } from "../../../provider/run/engine";
import { masked } from "../../../provider/run/masking";
import { maskingSecrets } from "../../../provider/run/secrecy";

const shown = (secrets: object, message: string) =>
  maskingSecrets([{ ...secrets }], async () => masked(message));

test.each<[string, object, string, string]>([
  ["a text", { name: "hunter2-x" }, "hunter2-x and xhunter2-xx", "[secret] and x[secret]x"],
  ["a text of few letters as a word of its own", { name: "data" }, "data, dataset", "[secret], dataset"],
  ["one of hardly any letters in quotes", { name: "u1" }, 'u1, "u1"', "u1, [secret]"],
  ["a number", { qps: 4711 }, "qps 4711, 14711", "qps [secret], 14711"],
  ["a member", { queries: [{ value: "hunter2-x" }] }, "value hunter2-x", "[secret] [secret]"],
  [
    "a key",
    { attributeSchema: { salary: "NUMERICAL" } },
    "attributeSchema.salary: expected NUMERICAL",
    "attributeSchema.[secret]: expected NUMERICAL",
  ],
  ["a text in its JSON form", { name: 'say "x"\n' }, String.raw`"say \"x\"\n"`, '"[secret]"'],
  ["a text in an address", { name: "hush/one two" }, "?name=hush%2Fone%20two", "?name=[secret]"],
  ["a text in a form", { name: "hush/one two" }, "name=hush%2Fone+two", "name=[secret]"],
  [
    "a text in JSON with only ASCII characters",
    { name: "hüsh & more" },
    String.raw`"h\u00fcsh \u0026 more"`,
    '"[secret]"',
  ],
  ["a text that is cut off", { name: "secret-".repeat(20) }, `${"secret-".repeat(9)}…`, "[secret]…"],
  ["a field of records", { source: '{"userId":"hush-1"}\n' }, 'userId "hush-1"', 'userId "[secret]"'],
  [
    "a cell of a table",
    { source: "userId,pay\nhush-1,90000\n" },
    "pay: received 90000",
    "pay: received [secret]",
  ],
  [
    "the name of a file",
    { source: "/srv/acme-corp/users.csv" },
    "there is no acme-corp/users.csv",
    "there is no [secret]/[secret]",
  ],
  [
    "the path of a file URL, encoded and decoded",
    { source: "file:///srv/hush%20directory/hush.csv" },
    "no /srv/hush directory/hush.csv, hush%20directory",
    "no [secret], [secret]",
  ],
  [
    "the address of a service, with or without its parts",
    { baseUrl: "https://ann:hush-word@Api.acme.example:8443/hush-path" },
    "https://api.acme.example:8443, api.acme.example, hush-word, /hush-path/x",
    "https://[secret], [secret], [secret], [secret]/x",
  ],
  ["the mask itself", { name: "[secret]" }, "[secret]", "[secret]"],
])("a message does not show %s", async (_, secrets, message, expected) => {
  expect(await shown(secrets, message)).toBe(expected);
});

test("errors, their stacks, causes and reasons, and logs are masked, but not those of other resources", async () => {
  const messages: string[] = [];
  setBinding({
    connect: () => {},
    engineAddress: () => undefined,
    log: async (_severity, message) => void messages.push(message),
  });
  const failing = maskingSecrets([{ name: "hunter2-x" }], async () => {
    await log.warn("urn", "hunter2-x is odd");
    const cause = new Error("hunter2-x");
    throw Object.assign(new Error("no hunter2-x", { cause }), { reasons: ["no hunter2-x"] });
  });
  const other = maskingSecrets([{ name: "another" }], async () => log.info("urn", "hunter2-x"));
  const error = await failing.catch((reason) => reason);
  await other;
  expect(error).toMatchObject({ message: "no [secret]", reasons: ["no [secret]"], stack: "" });
  expect(error.cause).toBeUndefined();
  expect(messages.sort()).toEqual(["[secret] is odd", "hunter2-x"]);
});

test("masking a message does not search for each of very many secrets", async () => {
  const cpuMs = (records: number) => {
    const source = Array.from({ length: records }, (_, at) => ({ userId: `user-${at}`, pay: at }));
    return maskingSecrets([{ source }], async () => {
      masked("the first makes ready");
      const before = process.cpuUsage();
      for (let at = 0; at < 300; at++) expect(masked(`user user-${at} is odd`)).toContain("[secret] is odd");
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
  };
  await cpuMs(300);
  expect(await cpuMs(60_000)).toBeLessThan(20 * Math.max(await cpuMs(300), 5));
});
