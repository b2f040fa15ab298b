/** The tick marks of a chart's axis, from 0 to at least the maximum. */
export interface Ticks {
  readonly marks: readonly number[];
  /** Formats a mark with just enough digits to distinguish all marks. */
  label(mark: number): string;
}

/** Returns the tick marks of an axis. Axes of counts have only whole numbers. */
export function ticksFor(max: number, isCount = false): Ticks {
  const step = stepFor(max > 0 ? max : 1, isCount);
  const count = Math.max(1, Math.ceil((max > 0 ? max : 1) / step - 1e-9));
  const digits = digitsOf(step);
  return {
    marks: Array.from({ length: count + 1 }, (_, at) => Number((at * step).toFixed(digits))),
    label: (mark) => mark.toFixed(digits),
  };
}

function stepFor(max: number, isCount: boolean): number {
  const rough = max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factors = isCount && power < 10 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  const step = (factors.find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10) * power;
  return isCount ? Math.max(1, step) : step;
}

function digitsOf(step: number): number {
  for (let digits = 0; digits < 12; digits++)
    if (Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6) return digits;
  return 12;
}
