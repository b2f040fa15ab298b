import type { JobAnswer } from "../../../service/console/answers";
import { counted, measure } from "../../format";
import { Card } from "../../parts/basics";
import { LineChart } from "../../parts/charts";

/** How good each trial of the search was, while it goes on and after. */
export function Trials({ of: { trials, quality } }: { of: JobAnswer }) {
  const points = trials.map((y, at) => ({ x: at + 1, y, label: "NDCG@20" }));
  const best = points.map((point, at) => ({ ...point, y: Math.max(...trials.slice(0, at + 1)) }));
  const popularity = quality?.popularityNdcgAt20;
  return (
    <Card
      title="The search"
      aside={`${counted(trials.length, "trial")}, NDCG@20 for users whom parameters are chosen by`}
    >
      <LineChart
        title="NDCG@20 of each trial, and the best so far"
        format={(y) => measure(y, 2)}
        place={(x) => `trial ${x}`}
        series={[
          { name: "Trial", points, drawn: "dots" },
          { name: "Best so far", points: best, drawn: "line" },
          ...(popularity == null
            ? []
            : [
                {
                  name: "Popular items",
                  points: points.map((point) => ({ ...point, y: popularity })),
                  drawn: "dashes" as const,
                },
              ]),
        ]}
      />
    </Card>
  );
}
