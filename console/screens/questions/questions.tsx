import type { JobRow } from "../../../service/console/answers";
import { latest } from "../../live";
import { Card, More } from "../../parts/basics";
import { Empty, Load, usePages } from "../../parts/load";
import { ScreenHead } from "../../parts/screen";
import { place, project } from "../../router";
import { JobTable } from "../jobs/job-table";
import { OneAnswer } from "./answer";
import { Ask } from "./ask";

/** Questions to a model about its users: who uses what, how usage is spread, and which groups there are. */
export function Screen() {
  const [id] = place.value.rest;
  return id ? <OneAnswer key={id} id={id} /> : <AllQuestions />;
}

function AllQuestions() {
  const chosen = project.value;
  const filter = { project: chosen?.id ?? "", type: "QUERYING,CLUSTERING" };
  const { counts } = latest.value ?? {};
  const jobs = usePages<JobRow>("jobs", filter, [filter.project, JSON.stringify(counts)]);
  return (
    <>
      <ScreenHead
        title="Questions"
        lead="Ask a model about its users: how much they use a value, who uses it, and which groups they form."
      />
      <div class="stack">
        {chosen && <Ask key={chosen.id} chosen={chosen} />}
        <Card title="Asked before" aside="newest first; answers are kept for a day">
          <Load of={jobs.first} lines={4}>
            {(page) =>
              page.rows.length === 0 ? (
                <Empty title="Nothing was asked yet">
                  <p>A UserQuery or a UserClustering of a program shows here too.</p>
                </Empty>
              ) : (
                <>
                  <JobTable rows={[...page.rows, ...jobs.older]} screen="questions" />
                  <More next={jobs.next} onMore={jobs.more} />
                </>
              )
            }
          </Load>
        </Card>
      </div>
    </>
  );
}
