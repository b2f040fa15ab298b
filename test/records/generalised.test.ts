import { generalised } from "../../records/rejects";

test("rejected rows are grouped by their reason and by their number of cells, not by their values", () => {
  const cells = (count: number) => `${count} cells, but the first line has 10 columns`;
  expect(generalised(cells(2))).not.toBe(generalised(cells(9)));
  expect(generalised(cells(12))).toBe(cells(12));
  expect(generalised('ts: 12.5 of "a"')).toBe(generalised('ts: -7 of "b"'));
});
