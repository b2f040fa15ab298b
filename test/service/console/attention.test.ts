import { findAttention } from "../../../service/console/overview/attention";

const day = 24 * 3_600_000;
const now = 100 * day;

/** Attention for a project whose live model has this age, and this many events since its training. */
function attentionFor(ageDays: number, newEvents: number): string[] {
  const generator = { id: "m1", name: "weekly", createdTs: now - ageDays * day, quality: null };
  const project = {
    name: "shop",
    datasets: [{}, {}, { records: 1000 }],
    newest: generator,
    isTraining: false,
    deployment: { isLoaded: true, generator, eventsSince: { count: newEvents, isMore: false } },
  } as never;
  const found = findAttention({ projects: [project], datasets: [], failed: [], refused: [], now });
  return found.map(({ title }) => title);
}

describe("the live model needs attention", () => {
  test.each([
    [29, 1, []],
    [31, 0, []],
    [31, 1, ["The live model of shop is 31 days old"]],
    [1, 150, ["150 events since the live model of shop was trained"]],
    [31, 150, ["150 events since the live model of shop was trained"]],
  ])("if it is old and there are new events: %d days, %d events", (days, events, titles) => {
    expect(attentionFor(days, events)).toEqual(titles);
  });
});
