import { performanceDocument } from "../../bench/report/table";

test("docs/performance.md shows the committed results; `npm run bench -- --table` brings it up to date", () => {
  const { is, shouldBe } = performanceDocument();
  expect(is).toBe(shouldBe);
});
