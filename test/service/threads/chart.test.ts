import { chart } from "../../../service/threads/chart";

const evenly = (bins: number, users: number) =>
  Array.from({ length: bins }, (_, at) => ({ from: at / bins, to: (at + 1) / bins, users }));

test("a chart has a bar for each bin with users, and a text with their number", () => {
  const svg = chart("Usage of genre = drama", [
    ...evenly(4, 1500).slice(0, 3),
    { from: 0.75, to: 1, users: 0 },
  ]);
  expect(svg).toContain("<title>Usage of genre = drama</title>");
  expect(svg).toContain("<desc>Users: 4,500, in 4 bars of up to 1,500.</desc>");
  const [bars = ""] = /<path d="[^"]*" fill="#4c78a8"/.exec(svg) ?? [];
  expect(bars.match(/M/g)).toHaveLength(3);
});

test.each([0, 1, 2, 7, 26, 999, 1_234_567])(
  "the axis for up to %d users has a few integer labels",
  (users) => {
    const svg = chart("t", evenly(1, users));
    const labels = [...svg.matchAll(/text-anchor="end">([^<]+)</g)].map(([, text = ""]) =>
      Number(text.replaceAll(",", "")),
    );
    expect(labels[0]).toBe(0);
    expect(labels.at(-1)).toBeGreaterThanOrEqual(users);
    expect(labels.every(Number.isInteger)).toBe(true);
    expect(labels.length).toBeGreaterThan(1);
    expect(labels.length).toBeLessThan(8);
  },
);

test("draws zero bins and very many bins", () => {
  for (const bins of [0, 1, 30, 10_000]) expect(chart("t", evenly(bins, 3))).not.toMatch(/NaN|Infinity|H-/);
});

test("escapes the title, and contains all of it even if it is too long to draw", () => {
  const svg = chart(`<script>alert("&")</script>\u0000\ud800${"x".repeat(200)}`, evenly(1, 1));
  expect(svg).not.toContain("<script");
  expect(svg).toContain(`&lt;script&gt;alert("&amp;")&lt;/script&gt;\ufffd\ufffd${"x".repeat(200)}</title>`);
});
