import type { JobRow } from "../../../service/console/responses";
import { liveStatus } from "../../live";
import { Card, More } from "../../parts/basics";
import { Empty, Load, usePages } from "../../parts/load";
import { ScreenHead } from "../../parts/screen";
import { route, selectedProject } from "../../router";
import { JobTable } from "../jobs/job-table";
import { OneAnswer } from "./answer";
import { Ask } from "./ask";

/** Questions about the users of a model: who uses what, how usage is distributed, and which groups there are. */
export function Screen() {
  const [id] = route.value.rest;
  return id ? <OneAnswer key={id} id={id} /> : <AllQuestions />;
}

function AllQuestions() {
  const chosen = selectedProject.value;
  const filter = { project: chosen?.id ?? "", type: "QUERYING,CLUSTERING" };
  const { counts } = liveStatus.value ?? {};
  const jobs = usePages<JobRow>("jobs", filter, [filter.project, JSON.stringify(counts)]);
  return (
    <>
      <ScreenHead
        title="Questions"
        lead="Ask about the users of a model: how much they use a value, who uses it, and which groups they form."
      />
      <div class="stack">
        {chosen && <Ask key={chosen.id} chosen={chosen} />}
        <Card title="Earlier questions" aside="newest first; answers are kept for a day">
          <Load of={jobs.first} lines={4}>
            {(page) =>
              page.rows.length === 0 ? (
                <Empty title="No questions yet">
                  <p>Each UserQuery and UserClustering of a program also appears here.</p>
                </Empty>
              ) : (
                <>
                  <JobTable rows={[...page.rows, ...jobs.older]} screen="questions" />
                  <More next={jobs.next} onMore={jobs.loadMore} />
                </>
              )
            }
          </Load>
        </Card>
      </div>
    </>
  );
}
