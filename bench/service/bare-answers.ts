import Fastify from "fastify";
import { Pool } from "pg";
import { currentStatement, parametersOf } from "../../service/serving/current";
import { connect } from "../../service/store/database";
import { projectOf } from "../../service/store/find";
import { projectData } from "../../service/store/project-data";

/** Responds to every call with the same text, without checks or a model. If there is a database, it first runs the statement of the service. */
async function main([reply = "", store = "", projectId = ""]: string[]): Promise<void> {
  const read = store === "" ? async () => undefined : await reader(store, projectId);
  const app = Fastify();
  app.post<{ Body: { user_id: string } }>(
    "/serving/:project/recommend-items-to-user",
    async (request, answer) => {
      await read(request.body.user_id);
      return answer.type("application/json").send(reply);
    },
  );
  app.addContentTypeParser("application/x-www-form-urlencoded", (_request, _payload, done) => done(null));
  app.post("/oauth/token", async () => ({ access_token: "none" }));
  app.get("/status", async () => {
    const { user, system } = process.cpuUsage();
    return { cpu_sec: (user + system) / 1e6, memory_bytes: process.memoryUsage.rss() };
  });
  process.send?.(await app.listen({ port: 0 }));
}

/** Reads a user with the last known version stamp, as the service does. */
async function reader(store: string, projectId: string): Promise<(userId: string) => Promise<void>> {
  const db = connect(store);
  const data = await projectData(db, await projectOf(db, projectId));
  await db.destroy();
  const pool = new Pool({ connectionString: store, max: 10 });
  const stamps = new Map<string, string>();
  return async (userId) => {
    const values = parametersOf(projectId, data, [{ userId, knownStamp: stamps.get(userId) ?? "" }]);
    const { rows } = await pool.query({ name: "bare", text: currentStatement, values });
    stamps.set(userId, rows[0].stamp);
  };
}

void main(process.argv.slice(2));
