import type { ComponentChildren } from "preact";

/** A column: its title, its cells, their class, and their label on narrow screens, where titles are hidden. */
export type Column<T> = readonly [
  title: ComponentChildren,
  cell: (row: T) => ComponentChildren,
  style?: string | undefined,
  label?: string,
];

/**
 * A table. It scrolls sideways, unless its class is `fits`. With the class `stacked`, narrow screens show the cells of
 * a row below each other.
 */
export function Table<T>(of: {
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  class?: string;
}) {
  return (
    <div class={of.class === "fits" ? undefined : "scroll"}>
      <table class={of.class}>
        <thead>
          <tr>
            {of.columns.map(([title, , style], at) => (
              <th key={at} class={style}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.rows.map((row) => (
            <tr key={of.keyOf(row)}>
              {of.columns.map(([, cell, style, label], at) => (
                <td key={at} class={style} data-name={label}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
