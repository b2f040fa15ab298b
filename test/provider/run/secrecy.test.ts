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
  [
    "an attribute or a text of an expression",
    { rules: { boost: [{ when: 'item.margin > 0.4 && "red" in item.ab', factor: 2 }] } },
    'rules.boost[0].when: item.margin, margin, item.ab and "red"; expected true or false of item',
    "rules.boost[0].when: [secret], [secret], [secret] and [secret]; expected true or false of item",
  ],
  [
    "a name in an expression that is not finished",
    { check: { userIds: ["ada"], filterQuery: "item.title.hushed('blue" } },
    "there is no method hushed; unexpected blue in item.title",
    "there is no method [secret]; unexpected [secret] in [secret]",
  ],
  ["the mask itself", { name: "[secret]" }, "[secret]", "[secret]"],
])("a message does not show %s", async (_, secrets, message, expected) => {
  expect(await shown(secrets, message)).toBe(expected);
});

const secret = `k&y<"it's">/+${"ünlock-".repeat(6)}`;

const named: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
const escapedBy = (write: (character: string) => string) => (text: string) =>
  text.replace(/[&<>"'/=`]/g, write);
const decimal = escapedBy((character) => `&#${character.charCodeAt(0)};`);
const hex = escapedBy((character) => `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`);
const names = escapedBy((character) => (named[character] ? `&${named[character]};` : character));
const base64 = (text: string) => Buffer.from(text).toString("base64");

test.each<[string, (text: string) => string]>([
  ["HTML with named entities", names],
  ["HTML with decimal entities", decimal],
  ["HTML with hexadecimal entities", hex],
  ["HTML that a gateway escapes once more", (text) => names(names(text))],
  ["HTML of JSON", (text) => names(JSON.stringify({ text }))],
  ["base64", base64],
  ["base64 without padding", (text) => base64(text).replace(/=+$/, "")],
  ["URL-safe base64", (text) => Buffer.from(text).toString("base64url")],
  ["base64 after one more byte", (text) => base64(`:${text}`)],
  ["base64 of a user and a secret", (text) => `Basic ${base64(`u1:${text}`)}`],
  ["base64 after a path", (text) => `/v1/users/${base64(`ann:${text}`)}/keys`],
  ["base64 in HTML", (text) => hex(base64(`user:${text}`))],
])("a message does not show a secret in %s", async (_, encode) => {
  for (const value of ["hunter2", "hunter2-x", secret]) {
    const masked = await shown({ name: value }, `401: no access with "${encode(value)}" for dataset-1`);
    const readings = [masked, ...(masked.match(/[\w+/-]{4,}/g) ?? []).flatMap(decodings)];
    expect(readings.filter((text) => text.includes(value.slice(0, 7)))).toEqual([]);
    expect(masked).toMatch(/^401: no access with .*\[secret\].* for dataset-1$/s);
  }
});

const decodings = (text: string) =>
  [0, 1, 2, 3].map((start) => Buffer.from(text.slice(start), "base64").toString());

test.each<[string, object, string]>([
  [
    "entities and long words without a secret",
    { name: "hunter2-x" },
    "a &lt; b &amp;&amp; recommendations/of/c3RhbmRhcmQ=",
  ],
  [
    "the encoding of a short secret in a longer word",
    { name: "on" },
    `&quot;item on&quot; ${base64("one more")}`,
  ],
  ["an entity that is no character", { name: "hunter2-x" }, "&#x110000; &#9999999; &unknown; &#0;"],
])("a message stays as it is with %s", async (_, secrets, message) => {
  expect(await shown(secrets, message)).toBe(message);
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
