import { performanceDocument } from "../../bench/report/table";

test("docs/performance.md shows the committed results; `npm run bench -- --table` updates it", () => {
  const { is, shouldBe } = performanceDocument();
  expect(is).toBe(shouldBe);
});
