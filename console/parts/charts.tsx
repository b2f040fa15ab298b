import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { formatCompact, formatExactTime } from "../format";
import { ticksFor } from "./ticks";

const height = 210;
const pad = { left: 44, right: 14, top: 14, bottom: 26 };

/** A point of a series. With `href`, it is a link. */
export interface Point {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly href?: string;
}

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** How the series is drawn. Default: a line with dots. */
  readonly drawn?: "line" | "dashes" | "dots";
}

/** Returns the colour of a series. */
const colour = (at: number): string => `var(--series-${(at % 6) + 1})`;

/** Measures the available width. A chart that is drawn at this width is not scaled, so its text keeps its size. */
function useWidth(): [RefObject<HTMLElement | null>, number] {
  const ref = useRef<HTMLElement>(null);
  const width = useSignal(640);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry) width.value = Math.max(240, Math.round(entry.contentRect.width));
    });
    if (ref.current) observer.observe(ref.current);
    return () => observer.disconnect();
  }, [width]);
  return [ref, width.value];
}

/** A line chart over time. With `xLabel`, the x values are not times. Hovering over a point shows its label. */
export function LineChart({
  title,
  series,
  format,
  xLabel,
}: {
  title: string;
  series: readonly Series[];
  format: (y: number) => string;
  xLabel?: (x: number) => string;
}) {
  const id = useId();
  const [ref, width] = useWidth();
  const points = series.flatMap((one) => one.points);
  const [first, last] = [Math.min(...points.map(({ x }) => x)), Math.max(...points.map(({ x }) => x))];
  const { marks, label } = ticksFor(Math.max(...points.map(({ y }) => y)));
  const most = marks.at(-1) as number;
  const x = (value: number) =>
    last === first
      ? width / 2
      : pad.left + ((value - first) / (last - first)) * (width - pad.left - pad.right);
  const y = (value: number) => height - pad.bottom - (value / most) * (height - pad.top - pad.bottom);
  return (
    <figure ref={ref}>
      {/* biome-ignore lint/a11y/useSemanticElements: the points of this drawing are links. */}
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="group" aria-labelledby={id}>
        <title id={id}>{title}</title>
        <Grid marks={marks} y={y} label={label} width={width} />
        {(last === first ? [first] : [first, last]).map((value, at) => (
          <text
            key={value}
            x={x(value)}
            y={height - 6}
            text-anchor={last === first ? "middle" : at === 0 ? "start" : "end"}
          >
            {xLabel?.(value) ??
              new Date(value).toLocaleDateString(undefined, { month: "short", day: "numeric" })}
          </text>
        ))}
        {series.map((one, at) => (
          <g key={one.name} stroke={colour(at)} fill={colour(at)}>
            {one.drawn !== "dots" && (
              <path
                fill="none"
                stroke-width="2"
                stroke-dasharray={one.drawn === "dashes" ? "5 4" : undefined}
                d={pathOf(
                  one.points.map((point) => [x(point.x), y(point.y)]),
                  width,
                )}
              />
            )}
            {(one.drawn ?? "dots") === "dots" &&
              one.points.map((point) => {
                const dot = (
                  <circle cx={x(point.x)} cy={y(point.y)} r="4">
                    <title>{`${point.label}, ${(xLabel ?? formatExactTime)(point.x)}: ${format(point.y)}`}</title>
                  </circle>
                );
                return point.href ? (
                  <a key={point.x} href={point.href}>
                    {dot}
                  </a>
                ) : (
                  <g key={point.x}>{dot}</g>
                );
              })}
          </g>
        ))}
      </svg>
      <Legend names={series.map(({ name }) => name)} />
    </figure>
  );
}

/** Returns the SVG path of a line. A single point becomes a horizontal line. */
function pathOf(points: readonly (readonly [number, number])[], width: number): string {
  const [only, ...others] = points;
  if (only && others.length === 0) return `M${pad.left} ${only[1]}H${width - pad.right}`;
  return points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${x} ${y}`).join("");
}

/** A column chart of stacked counts, with one column for each day or bin. */
export function Columns({
  title,
  names,
  columns,
  unit,
}: {
  title: string;
  names: readonly string[];
  columns: readonly { readonly label: string; readonly counts: readonly number[] }[];
  unit: string;
}) {
  const id = useId();
  const [ref, width] = useWidth();
  const totals = columns.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0));
  const { marks } = ticksFor(Math.max(...totals, 1), true);
  const most = marks.at(-1) as number;
  const slot = (width - pad.left - pad.right) / Math.max(1, columns.length);
  const tall = (count: number) => (count / most) * (height - pad.top - pad.bottom);
  return (
    <figure ref={ref}>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={id}>
        <title id={id}>{title}</title>
        <Grid
          marks={marks}
          y={(mark) => height - pad.bottom - tall(mark)}
          label={formatCompact}
          width={width}
        />
        {columns.map(({ label, counts }, at) => {
          let base = height - pad.bottom;
          return (
            <g key={label}>
              <title>
                {`${label}: ${counts.map((count, index) => `${formatCompact(count)} ${names[index] ?? unit}`).join(", ")}`}
              </title>
              {counts.map((count, index) => {
                base -= tall(count);
                return (
                  <rect
                    key={names[index]}
                    x={pad.left + at * slot + slot * 0.12}
                    width={Math.max(1, slot * 0.76)}
                    y={base}
                    height={tall(count)}
                    rx={Math.min(2, slot / 4)}
                    fill={colour(index)}
                  />
                );
              })}
            </g>
          );
        })}
        {columns.length > 0 && (
          <>
            <text x={pad.left} y={height - 6}>
              {columns[0]?.label}
            </text>
            {columns.length > 1 && (
              <text x={width - pad.right} y={height - 6} text-anchor="end">
                {columns.at(-1)?.label}
              </text>
            )}
          </>
        )}
      </svg>
      {names.length > 1 && <Legend names={names} />}
    </figure>
  );
}

/** The horizontal grid lines of a chart with their labels. */
function Grid(of: {
  marks: readonly number[];
  y: (mark: number) => number;
  label: (mark: number) => string;
  width: number;
}) {
  return of.marks.map((mark) => (
    <g key={mark}>
      <line class="grid" x1={pad.left} x2={of.width - pad.right} y1={of.y(mark)} y2={of.y(mark)} />
      <text x={pad.left - 8} y={of.y(mark) + 4} text-anchor="end">
        {of.label(mark)}
      </text>
    </g>
  ));
}

/** Lists the names of the series with their colours. */
function Legend({ names }: { names: readonly string[] }) {
  return (
    <ul class="legend">
      {names.map((name, at) => (
        <li key={name}>
          <i style={{ background: colour(at) }} />
          <bdi>{name.slice(0, 60)}</bdi>
        </li>
      ))}
    </ul>
  );
}
