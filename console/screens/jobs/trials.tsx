import type { JobResponse } from "../../../service/console/responses";
import { formatDecimal, plural } from "../../format";
import { Card } from "../../parts/basics";
import { LineChart } from "../../parts/charts";

/** A chart of the trials of a parameter search, shown during and after the search. */
export function Trials({ of: { trials, quality } }: { of: JobResponse }) {
  const points = trials.map((y, at) => ({ x: at + 1, y, label: "NDCG@20" }));
  const best = points.map((point, at) => ({ ...point, y: Math.max(...trials.slice(0, at + 1)) }));
  const popularity = quality?.popularityNdcgAt20;
  return (
    <Card
      title="Parameter search"
      aside={`${plural(trials.length, "trial")}, NDCG@20 on the validation users`}
    >
      <LineChart
        title="NDCG@20 of each trial, and the best so far"
        format={(y) => formatDecimal(y, 2)}
        xLabel={(x) => `trial ${x}`}
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
