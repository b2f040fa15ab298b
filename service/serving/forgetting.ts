import { JobError } from "../base/job-error";
import { removeStaleCopies } from "../files/models";
import { modelsWithForgotten } from "../store/forgotten";
import { emptyLog } from "../threads/write-ahead-log";
import type { Serving, ServingContext } from "./serving";

const running = new WeakMap<Serving, Promise<void>>();

/**
 * Removes forgotten users from the files of all models that still hold them, and what the database keeps of deleted rows.
 * It works from the tombstones in the database, so whatever a kill interrupts is done at the next start. Callers wait for
 * each other: one that waited finds its user removed with those of the callers before.
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
      // A model that is gone or damaged serves nobody; its file stays for whoever wants to repair it.
      if (!(error instanceof JobError)) throw error;
      log.error({ err: error, modelId }, "forgotten users cannot be removed from the file of a model");
    }
  }
  await removeStaleCopies(context);
  await emptyLog(context);
}
