import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FaultProxy, send } from "../faults/proxy";

/** Time from the response to a create until its id was stored, in ms. */
export interface Width {
  readonly call: string;
  /** Until the id was in the provider's journal or in the state. */
  readonly journalMs: number;
  /** Until the id was in the state. */
  readonly stateMs: number;
}

/** Measures the creates in a proxy. The returned function stops the measurement. */
export function watchWindow(
  proxy: FaultProxy,
  journal: string,
  stateFile: string,
  widths: Width[],
): () => void {
  let over = false;
  const off = proxy.on(
    "*",
    async ({ call, response, pass }) => {
      const answer = await pass();
      const taken = performance.now();
      send(response, answer);
      const id = /^POST \/(create|submit)-/.test(call) && newIdIn(answer.body.toString());
      if (!id) return;
      let journalMs: number | undefined;
      for (;;) {
        const inState = readFileSync(stateFile, "utf8").includes(id);
        const now = performance.now() - taken;
        if (inState || holds(journal, id)) journalMs ??= now;
        if (inState) return void widths.push({ call, journalMs: journalMs ?? now, stateMs: now });
        if (over) return;
        await sleep(1);
      }
    },
    { times: Number.POSITIVE_INFINITY },
  );
  return () => {
    over = true;
    off();
  };
}

/** Returns the id of a created object from the response. */
function newIdIn(answer: string): string | undefined {
  const reply = JSON.parse(answer) as Record<string, unknown>;
  const key = [
    "job_id",
    "algorithm_id",
    "project_id",
    "user_dataset_id",
    "item_dataset_id",
    "event_dataset_id",
  ].find((name) => name in reply);
  return key && String(reply[key]);
}

function holds(journal: string, id: string): boolean {
  try {
    const names = readdirSync(journal, { recursive: true, encoding: "utf8" });
    return names.some((name) => name.endsWith(".json") && text(join(journal, name)).includes(`"id":"${id}"`));
  } catch {
    return false;
  }
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The entry was removed in between.
    return "";
  }
}

/** Formats the median and the maximum of some numbers. */
export function spread(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((one, other) => one - other);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  return `median ${at(0.5)} ms, 95 % ${at(0.95)} ms, greatest ${at(1)} ms of ${sorted.length}`;
}
