import { toUSVString } from "node:util";

/** One bar: users whose usage lies from `from` up to `to`. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly users: number;
}

/** Draws a distribution as SVG: usage to the right, users upwards. */
export async function chart(title: string, bars: readonly Bar[]): Promise<string> {
  // Loaded when the first chart is drawn: it takes longer than the whole start of the service may.
  const { parse, View } = await import("vega");
  const spec = {
    $schema: "https://vega.github.io/schema/vega/v6.json",
    width: 560,
    height: 280,
    padding: 8,
    background: "white",
    title: { text: drawable(title), anchor: "start" as const },
    data: [{ name: "bars", values: [...bars] }],
    scales: [
      {
        name: "x",
        type: "linear" as const,
        domain: [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1],
        range: "width" as const,
      },
      {
        name: "y",
        type: "linear" as const,
        domain: [0, Math.max(1, ...bars.map(({ users }) => users))],
        range: "height" as const,
        nice: true,
      },
    ],
    axes: [
      { orient: "bottom" as const, scale: "x", title: "usage" },
      { orient: "left" as const, scale: "y", title: "users", grid: true, tickMinStep: 1 },
    ],
    marks: [
      {
        type: "rect" as const,
        from: { data: "bars" },
        encode: {
          enter: {
            x: { scale: "x", field: "from", offset: 1 },
            x2: { scale: "x", field: "to" },
            y: { scale: "y", field: "users" },
            y2: { scale: "y", value: 0 },
            fill: { value: "#4c78a8" },
          },
        },
      },
    ],
  };
  return new View(parse(spec), { renderer: "none" }).toSVG();
}

/** XML has no way to write these characters. */
function drawable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced.
  return toUSVString(text).replace(/[\x00-\x1f\x7f\ufffe\uffff]/g, "\ufffd");
}
