import { gzipSync } from "node:zlib";
import { read, TestDirectory } from "./test-directory";

const directory = new TestDirectory();
afterAll(() => directory.remove());

const user = (user_id: string, attributes: object = {}) => ({ user_id, attributes });
const event = (id: string, more: object = {}) => ({
  event_id: id,
  user_id: "u",
  item_id: "i",
  ts: 1_700_000_000_000,
  event_type: "buy",
  ...more,
});

describe("NDJSON", () => {
  test("byte order mark, empty lines, Windows line ends, unicode ids, no newline at the end", async () => {
    const text = `\uFEFF{"user_id":"ä"}\r\n\r\n  \n{"user_id":"日本 👩‍👩‍👧"}\n{"userId":"camel","attributes":{"user_id":"kept"}}`;
    expect(await read("users", directory.write("awkward.ndjson", text))).toEqual({
      records: [user("ä"), user("日本 👩‍👩‍👧"), user("camel", { user_id: "kept" })],
      lines: [1, 4, 5],
      rejects: [],
    });
  });

  test("characters that the pieces of a file cut in two", async () => {
    const ids = Array.from({ length: 20_000 }, (_, at) => `${"x".repeat(at % 7)}é日👍${at}`);
    const text = ids.map((id) => `${JSON.stringify({ user_id: id })}\n`).join("");
    const { records } = await read("users", directory.write("long.jsonl", text));
    expect(records.map(({ user_id }) => user_id)).toEqual(ids);
  });

  test("lines that are not records are rejected with their line number, and the others are read", async () => {
    const text =
      '{"user_id":"a"}\n{"user_id":\n[1]\n{"user_id":""}\n{"name":"b"}\n{"user_id":12345678901234567890}\n{"user_id":7}\n';
    const { records, rejects } = await read("users", directory.write("bad.ndjson", text));
    expect(records).toEqual([user("a"), user("7")]);
    expect(rejects.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
      expect.stringMatching(/^2 not JSON: /),
      "3 expected an object, received an array",
      "4 user_id: expected text that is not empty",
      "5 user_id: missing; expected text",
      expect.stringMatching(/^6 user_id: .* too large for an exact number; put it in quotes$/),
    ]);
    expect(rejects[0]).toMatchObject({
      source: expect.stringContaining("bad.ndjson"),
      record: '{"user_id":',
    });
  });

  test("an event of 25 kB is rejected with its size, one of 19 kB is not", async () => {
    const lines = [19_000, 25_000].map((size, at) =>
      JSON.stringify(event(`e${at}`, { attributes: { note: "n".repeat(size) } })),
    );
    const { records, rejects } = await read("events", directory.write("large.ndjson", lines.join("\n")));
    expect(records).toHaveLength(1);
    expect(rejects).toMatchObject([{ line: 2, reason: expect.stringMatching(/has 25\d\d\d bytes.*20480/) }]);
  });

  test("text that is not UTF-8 stops the upload", async () => {
    const file = directory.write(
      "latin1.ndjson",
      Buffer.from('{"user_id":"a"}\n{"user_id":"\xe9"}\n', "latin1"),
    );
    await expect(read("users", file)).rejects.toThrow(
      /latin1\.ndjson: is not UTF-8 text, at or after line 1/,
    );
  });
});

describe("gzip", () => {
  test("is recognised by its first bytes, with any file name", async () => {
    const packed = gzipSync('{"user_id":"a"}\n');
    for (const name of ["packed.ndjson.gz", "packed.ndjson"]) {
      expect((await read("users", directory.write(name, packed))).records).toEqual([user("a")]);
    }
  });

  test("that is truncated stops the upload and reports the file and line", async () => {
    const text = Array.from({ length: 5000 }, (_, at) => `{"user_id":"u${at * 7919}"}\n`).join("");
    const packed = gzipSync(text);
    const file = directory.write("cut.ndjson.gz", packed.subarray(0, packed.length / 2));
    await expect(read("users", file)).rejects.toThrow(
      /cut\.ndjson\.gz: the gzip file is incomplete after line \d+/,
    );
  });
});

describe("JSON", () => {
  test("reads an array in any layout, with brackets and quotes in strings", async () => {
    const users = [user("a", { note: 'x]},{"[\\"' }), user("b", { list: [["c"], { d: "}" }] })];
    for (const text of [
      JSON.stringify(users),
      JSON.stringify(users, null, 2),
      `\uFEFF \n${JSON.stringify(users)}\n`,
    ]) {
      expect((await read("users", directory.write("array.json", text))).records).toEqual(users);
    }
    const pretty = await read("users", directory.write("pretty.json", JSON.stringify(users, null, 2)));
    expect(pretty.lines).toEqual([2, 8]);
  });

  test("reads a sequence of objects, on one line or on many", async () => {
    const text = '{"user_id":"a"} {"user_id":"b"}\n{\n"user_id":"c"}';
    expect((await read("users", directory.write("sequence.json", text))).lines).toEqual([1, 1, 2]);
  });

  test("reads a long array in chunks", async () => {
    const users = Array.from({ length: 15_000 }, (_, at) => user(`é${at}`, { text: '"\\' }));
    expect((await read("users", directory.write("big.json", JSON.stringify(users)))).records).toEqual(users);
  });

  test.each([
    ['[{"user_id":"a"},\n{"user_id":"b"', /\.json:2: the file ends inside the record that begins here/],
    ['[{"user_id":"a"},\n', /\.json:2: the file ends inside the array/],
    ['[{"user_id":"a"},\n17]', /\.json:2: expected an object or the end of the array, found "1"/],
    [
      '[{"user_id":"a"}]\n{"user_id":"b"}',
      /\.json:2: expected nothing after the end of the array, found "{"/,
    ],
    ['{"user_id":"a"}\n17', /\.json:2: expected an object, found "1"/],
  ])("%j is reported with its position", async (text, message) => {
    await expect(read("users", directory.write("broken.json", text))).rejects.toThrow(message);
  });

  test("an empty array and an empty file have no records", async () => {
    expect((await read("users", directory.write("none.json", "[]"))).records).toEqual([]);
    expect((await read("users", directory.write("nothing.csv", ""))).records).toEqual([]);
  });
});

describe("CSV", () => {
  test("reads quotes, line breaks in cells, a byte order mark, empty lines, empty cells and numbers", async () => {
    const text =
      '\uFEFFuser_id, note ,age,zip,score\r\n007,"said ""hi"", then\r\nleft",42,01234,\r\n\r\n"ünï",plain,,90,1.50\r\n';
    expect(await read("users", directory.write("awkward.csv", text))).toEqual({
      records: [
        user("007", { note: 'said "hi", then\r\nleft', age: 42, zip: "01234" }),
        user("ünï", { note: "plain", zip: 90, score: "1.50" }),
      ],
      lines: [2, 5],
      rejects: [],
    });
  });

  test("reads semicolons and tabs as separators", async () => {
    for (const [name, mark] of [
      ["semi.csv", ";"],
      ["tabs.tsv", "\t"],
    ] as const) {
      const text = `user_id${mark}a,b${mark}c\n1${mark}"x${mark}y"${mark}\n`;
      expect((await read("users", directory.write(name, text))).records).toEqual([
        user("1", { "a,b": `x${mark}y` }),
      ]);
    }
  });

  test("reads lines that end in a carriage return", async () => {
    const text = 'user_id;"a,b";note\r1;x;"two\rlines"\r\r2;y\r3;z;\r';
    expect(await read("users", directory.write("old-mac.csv", text))).toEqual({
      records: [user("1", { "a,b": "x", note: "two\rlines" }), user("3", { "a,b": "z" })],
      lines: [2, 6],
      rejects: [expect.objectContaining({ line: 5, reason: "2 cells, but the first line has 3 columns" })],
    });
  });

  test("a row with too few or too many cells is rejected, and the others are read", async () => {
    const text = "user_id,age\na,1\nb\nc,2,3\nd,4\n";
    const { records, rejects } = await read("users", directory.write("ragged.csv", text));
    expect(records).toEqual([user("a", { age: 1 }), user("d", { age: 4 })]);
    expect(rejects.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
      "3 1 cells, but the first line has 2 columns",
      "4 3 cells, but the first line has 2 columns",
    ]);
  });

  test.each([
    ['user_id,age\na,1\nb,"2\nc,3\n', /\.csv:3: a quote that opens in this record is never closed/],
    ['user_id,age\na,"1"x\n', /\.csv:2: text follows a closing quote/],
    ["user_id,age,age\na,1,2\n", /\.csv:1: two columns have the name "age"/],
  ])("%j is reported with its position", async (text, message) => {
    await expect(read("users", directory.write("broken.csv", text))).rejects.toThrow(message);
  });

  test("reads attributes as JSON from one column", async () => {
    const text = 'item_id,attributes\n1,"{""genre"":[""a"",""b""]}"\n2,oops\n';
    const { records, rejects } = await read("items", directory.write("attributes.csv", text));
    expect(records).toEqual([{ item_id: "1", attributes: { genre: ["a", "b"] } }]);
    expect(rejects).toMatchObject([
      { line: 3, reason: 'attributes: expected a JSON object, received "oops"' },
    ]);
  });
});

describe("sources", () => {
  test("a glob reads its files sorted by name, each in its format", async () => {
    directory.write("part-2.csv", "user_id\nc\n");
    directory.write("part-1.ndjson", '{"user_id":"a"}\n{"user_id":"b"}\n');
    const { records } = await read("users", `${directory.path}/part-*`);
    expect(records.map(({ user_id }) => user_id)).toEqual(["a", "b", "c"]);
  });

  test.each([
    ["missing.csv", /missing\.csv: no such file/],
    ["missing-*.csv", /missing-\*\.csv: no file matches this pattern/],
  ])("%s is reported as an error", async (source, message) => {
    await expect(read("users", source)).rejects.toThrow(message);
  });

  test("a file without a known extension is an error that asks for a format", async () => {
    const file = directory.write("users.txt", '{"user_id":"a"}\n');
    await expect(read("users", file)).rejects.toThrow(
      /users\.txt: unknown file extension; use one of .*set the format/,
    );
    expect((await read("users", file, { format: "ndjson" })).records).toEqual([user("a")]);
  });

  test("an id that occurs twice is sent twice, so the last record wins", async () => {
    const file = directory.write("twice.ndjson", '{"user_id":"a","n":1}\n{"user_id":"a","n":2}\n');
    expect((await read("users", file)).records).toEqual([user("a", { n: 1 }), user("a", { n: 2 })]);
  });
});
