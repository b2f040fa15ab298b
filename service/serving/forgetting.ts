import { JobError } from "../base/job-error";
import { removeStaleCopies } from "../files/models";
import { modelsWithForgotten } from "../store/forgotten";
import { emptyLog } from "../threads/write-ahead-log";
import type { Serving, ServingContext } from "./serving";

const running = new WeakMap<Serving, Promise<void>>();

/**
 * Removes forgotten users from the files of all models that still contain them, and deleted rows from the write-ahead
 * log. It works from the tombstones in the database, so the next start can finish an interrupted removal. Calls run one
 * after another; an earlier call may already have removed the user of a later one.
 */
export function removeForgottenUsers(context: ServingContext & { readonly serving: Serving }): Promise<void> {
  const before = running.get(context.serving) ?? Promise.resolve();
  const own = before.catch(() => undefined).then(() => removeAll(context));
  running.set(context.serving, own);
  return own;
}

async function removeAll(context: ServingContext & { readonly serving: Serving }): Promise<void> {
  const { store, pool, serving, log } = context;
  await serving.forgetForgotten();
  for (const modelId of await modelsWithForgotten(store.db)) {
    try {
      const until = await pool.run({ kind: "REMOVE_USERS", modelId });
      if (until === undefined) continue;
      await store.exclusively((db) =>
        db
          .updateTable("models")
          .set({ forgotten_until: until })
          .where("id", "=", modelId)
          .where("forgotten_until", "<", until)
          .execute(),
      );
    } catch (error) {
      // A missing or damaged model cannot be loaded. Its file is kept in case somebody wants to repair it.
      if (!(error instanceof JobError)) throw error;
      log.error({ err: error, modelId }, "cannot remove forgotten users from the file of a model");
    }
  }
  await removeStaleCopies(context);
  await emptyLog(context);
}
