import { rollbacks } from "../../console/parts/deployments";
import { ticksFor } from "../../console/parts/ticks";

const labels = (most: number, isCount = false) => {
  const { marks, label } = ticksFor(most, isCount);
  return marks.map(label);
};

test("axis labels show the exact values of their marks", () => {
  expect(labels(1)).toEqual(["0.00", "0.25", "0.50", "0.75", "1.00"]);
  expect(labels(0.3)).toEqual(["0.0", "0.1", "0.2", "0.3"]);
  expect(labels(0.04)).toEqual(["0.00", "0.01", "0.02", "0.03", "0.04"]);
  expect(labels(8)).toEqual(["0", "2", "4", "6", "8"]);
  expect(labels(0)).toEqual(labels(1));
  for (const most of [0.013, 0.07, 0.5, 0.72, 0.9, 3, 17, 240]) {
    const { marks, label } = ticksFor(most);
    expect(marks.map((mark) => Number(label(mark)))).toEqual(marks);
    expect(marks.at(-1)).toBeGreaterThanOrEqual(most);
    expect(marks.length).toBeLessThanOrEqual(5);
  }
});

test("axis marks of counts are whole numbers", () => {
  expect(labels(1, true)).toEqual(["0", "1"]);
  expect(labels(3, true)).toEqual(["0", "1", "2", "3"]);
  expect(labels(10, true)).toEqual(["0", "5", "10"]);
  expect(labels(1000, true)).toEqual(["0", "250", "500", "750", "1000"]);
});

test("a deployment is a rollback if its model was live before the previous one", () => {
  const job = (id: string, modelId: string, status = "SUCCEED") => ({ id, modelId, status });
  const found = rollbacks([
    job("5", "a"),
    job("4", "b", "FAILED"),
    job("3", "b"),
    job("2", "a"),
    job("1", "a"),
  ]);
  expect([...found]).toEqual(["5"]);
});
