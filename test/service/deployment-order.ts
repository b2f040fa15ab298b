/** A call that submits a deployment of a model or deletes the model, with its start, end and outcome. */
export interface Call {
  readonly does: "deploy" | "delete";
  readonly modelId: string;
  readonly began: number;
  readonly ended: number;
  /** The id of the job, "deleted", or an error code. */
  readonly outcome: string;
}

/** A finished deployment job. */
export interface EndedJob {
  readonly id: string;
  readonly number: number;
  readonly status: string;
  readonly finished_ts: number;
}

/** State between two steps: the deleted models, the number of the last job, and of the live deployment. */
interface State {
  readonly deleted: readonly string[];
  readonly last: number;
  readonly serving: number;
}

/** A step that happened between two moments. It returns undefined for a state in which its outcome is impossible. */
interface Step {
  readonly began: number;
  readonly ended: number;
  from(state: State): State | undefined;
}

/**
 * Whether some order of the calls and jobs that agrees with their times explains all outcomes and the live deployment,
 * which is the successful one that was submitted last.
 */
export function haveAnOrder(
  calls: readonly Call[],
  jobs: readonly EndedJob[],
  servingId: string | undefined,
): boolean {
  const modelOf = (number: number) => {
    const id = jobs.find((job) => job.number === number)?.id;
    return calls.find(({ outcome }) => outcome === id)?.modelId;
  };
  const steps = calls.flatMap((call) => {
    const job = jobs.find(({ id }) => id === call.outcome);
    if (job) return [submitted(call, job), run(call, job)];
    return [call.does === "deploy" ? refused(call) : deleted(call, modelOf)];
  });
  const serving = jobs.find(({ id }) => id === servingId)?.number ?? 0;
  return leads(steps, { deleted: [], last: 0, serving: 0 }, serving);
}

function submitted({ modelId, began, ended }: Call, { number }: EndedJob): Step {
  const from = (state: State) =>
    number > state.last && !state.deleted.includes(modelId) ? { ...state, last: number } : undefined;
  return { began, ended, from };
}

function run({ modelId, began }: Call, { number, status, finished_ts: at }: EndedJob): Step {
  const succeeded = status === "SUCCEED";
  const from = (state: State) => {
    if (number > state.last || succeeded === state.deleted.includes(modelId)) return undefined;
    return succeeded ? { ...state, serving: Math.max(state.serving, number) } : state;
  };
  // A successful job ends in an exclusive transaction. Other jobs do not.
  return succeeded ? { began: at, ended: at, from } : { began, ended: Number.POSITIVE_INFINITY, from };
}

function refused({ modelId, began, ended, outcome }: Call): Step {
  const isRight = (state: State) => outcome === "NOT_FOUND" && state.deleted.includes(modelId);
  return { began, ended, from: (state) => (isRight(state) ? state : undefined) };
}

function deleted(
  { modelId, began, ended, outcome }: Call,
  modelOf: (number: number) => string | undefined,
): Step {
  const expected = (state: State) => {
    if (state.deleted.includes(modelId)) return "NOT_FOUND";
    return modelOf(state.serving) === modelId ? "MODEL_DEPLOYED" : "deleted";
  };
  const from = (state: State) => {
    if (expected(state) !== outcome) return undefined;
    return outcome === "deleted" ? { ...state, deleted: [...state.deleted, modelId].sort() } : state;
  };
  return { began, ended, from };
}

/** Whether some order of the steps leads to a state in which this job is the live deployment. */
function leads(steps: readonly Step[], first: State, serving: number): boolean {
  const tried = new Set<string>();
  const go = (left: readonly Step[], state: State): boolean => {
    if (left.length === 0) return state.serving === serving;
    const key = JSON.stringify([left.map((step) => steps.indexOf(step)), state]);
    if (tried.has(key)) return false;
    tried.add(key);
    const firstEnd = Math.min(...left.map(({ ended }) => ended));
    return left.some((step) => {
      const next = step.began > firstEnd ? undefined : step.from(state);
      return (
        next !== undefined &&
        go(
          left.filter((other) => other !== step),
          next,
        )
      );
    });
  };
  return go(steps, first);
}
