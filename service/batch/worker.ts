// batch/ recommends items to many users, in a worker thread. It computes them with the same code as calls.

import { listen } from "../threads/listen";
import type { RecommendationFileTask, RecommendationTask } from "../threads/recommendation";
import { recommendToUsers } from "./recommend-to-users";
import { writeFile } from "./result-file";

listen<RecommendationTask | RecommendationFileTask>((task, { db, files, onProgress }) =>
  task.kind === "RECOMMENDATION" ? recommendToUsers(db, files, task, onProgress) : writeFile(db, files, task),
);
