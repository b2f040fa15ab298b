import { propertyList, table, wrapLines, wrapText } from "../../../cli/terminal/layout";

const terminal = (columns: number) => ({ columns }) as NodeJS.WriteStream;
const longest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

/** Runs `work` with a terminal of this width. */
function on<T>(columns: number, work: () => T): T {
  const before = process.stdout.columns;
  process.stdout.columns = columns;
  try {
    return work();
  } finally {
    process.stdout.columns = before;
  }
}

describe("prose", () => {
  test("is wrapped between words; words and commands are not split", () => {
    const long = "x".repeat(100);
    expect(wrapText(`one ${long} two`, "- ", "  ")).toBe(`- one\n  ${long}\n  two`);
    const command = `\`recommender jobs wait ${"j".repeat(40)} --project ${"p".repeat(20)}\``;
    expect(wrapText(`It goes on: wait for it with ${command}.`)).toBe(
      `It goes on: wait for it with\n${command}.`,
    );
  });

  test("that fits stays unchanged, including spaces", () => {
    expect(wrapLines("a  b\n  c   d\n", terminal(80))).toBe("a  b\n  c   d\n");
    expect(wrapText('declared "a  b"', "", "", 80)).toBe('declared "a  b"');
  });

  test("keeps its indentation, and Markdown table rows stay on one line", () => {
    const words = "word ".repeat(30).trim();
    expect(wrapLines(`  - ${words}`, terminal(80)).split("\n")[1]).toMatch(/^ {4}word/);
    expect(longest(wrapLines(words, terminal(60)))).toBeLessThanOrEqual(60);
    expect(wrapLines(`| ${words} |`, terminal(80))).toBe(`| ${words} |`);
  });
});

describe("a table", () => {
  const headings = ["ID", "NAME", "ATTRIBUTES"];

  test("wraps the widest cells to fit the terminal", () => {
    const attributes = Array.from({ length: 6 }, (_, at) => `attribute${at}: text`).join(", ");
    const drawn = on(80, () =>
      table(headings, [["event-dataset-0b5fc9c7f343a4db47a9", "clicks", attributes]]),
    );
    expect(longest(drawn)).toBeLessThanOrEqual(80);
    expect(drawn.split("\n")[1]).toMatch(
      /^event-dataset-0b5fc9c7f343a4db47a9 {2}clicks {2}attribute0: text,/,
    );
    for (const name of attributes.split(", ")) expect(drawn.replace(/\s+/g, " ")).toContain(name);
    expect(on(500, () => table(headings, [["id", "clicks", attributes]])).split("\n")).toHaveLength(3);
  });

  test("that does not fit is printed as a list of properties per row", () => {
    const path = `/${"directory/".repeat(15)}`;
    expect(
      on(80, () =>
        table(headings, [
          ["id", path, "a"],
          ["other", "b", ""],
        ]),
      ),
    ).toBe(`id          id\nname\n  ${path}\nattributes  a\n\nid    other\nname  b\n`);
  });
});

test("long values are wrapped in their column", () => {
  const message = "word ".repeat(30).trim();
  const drawn = on(80, () =>
    propertyList([
      ["id", "x"],
      ["message", message],
    ]),
  );
  expect(longest(drawn)).toBeLessThanOrEqual(80);
  expect(drawn).toMatch(/^id {7}x\nmessage {2}word[^\n]*\n {9}word/);
});
