import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonMap } from "../../contract";
import { JobError } from "../base/job-error";
import type { ProjectData } from "../store/project-data";
import type { Job } from "../store/tables";
import { limitOf } from "../threads/pool";
import { nothingToLearn, type Progress, type Trained } from "../threads/train";
import { type TrainingData, tableNames } from "../threads/training-data";
import { runCommand } from "./command";
import type { JobContext } from "./context";

/** What is to be trained. */
export interface Training {
  readonly data: ProjectData;
  readonly algorithmType: string;
  readonly parameters: JsonMap;
  /** Under which the model is kept. */
  readonly modelId: string;
}

/** Trains a model and keeps it; `signal` says that the job has come into other hands. */
export type Trainer = (
  training: Training,
  job: Job,
  context: JobContext,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
) => Promise<Trained>;

/** The trainer that a service was started with. */
export function trainerOf({ options: { trainer } }: JobContext): Trainer {
  return trainer === undefined ? inProcess : byCommand(trainer);
}

const inProcess: Trainer = ({ data, parameters, modelId }, _, { pool }, signal, onProgress) =>
  pool.run({ kind: "TRAINING", data, parameters, modelId, share: pool.share }, signal, onProgress);

/** Trains by a command: it gets tables, and writes a model. */
function byCommand(command: string): Trainer {
  return async (training, job, context, signal) => {
    const { pool, folder } = context;
    const own = join(folder.work, `${job.id}-${job.attempt}`);
    await mkdir(own, { recursive: true, mode: 0o700 });
    try {
      const data = await pool.run({ kind: "TRAINING_DATA", data: training.data, folder: own }, signal);
      if (data.interactions === 0) throw nothingToLearn(training.data);
      const env = await filesOf(own, training, data, job);
      await carryOut(command, env, job, context, signal);
      const { modelId } = training;
      return await pool.run({ kind: "TRAINED_MODEL", file: env.RECOMMENDER_MODEL, data, modelId }, signal);
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  };
}

/** Where the command finds all that it needs, and where it puts the model. */
async function filesOf(folder: string, training: Training, data: TrainingData, job: Job) {
  const { users, items, interactions } = data;
  const file = join(folder, "parameters.json");
  const content = {
    job_id: job.id,
    algorithm_type: training.algorithmType,
    algorithm_parameters: training.parameters,
    target_event_type: training.data.targetEventType,
    users,
    items,
    interactions,
  };
  await writeFile(file, JSON.stringify(content), { mode: 0o600 });
  return {
    RECOMMENDER_INTERACTIONS: join(folder, tableNames.interactions),
    RECOMMENDER_USERS: join(folder, tableNames.users),
    RECOMMENDER_ITEMS: join(folder, tableNames.items),
    RECOMMENDER_PARAMETERS: file,
    RECOMMENDER_MODEL: join(folder, "model"),
    RECOMMENDER_WORK: folder,
  };
}

/** What the command has no business with: the way to the service's data, and whatever is named like a secret. */
function withoutSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const secret = /^(RECOMMENDER_|PG|AWS_|DATABASE_URL$)|KEY|SECRET|TOKEN|PASS(WORD|PHRASE|WD)|CREDENTIAL/i;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.test(name)));
}

/** Lines of the command's errors that a failed job quotes, and how much of them. */
const quotedLines = 20;
const quotedCharacters = 2000;

async function carryOut(
  command: string,
  files: NodeJS.ProcessEnv,
  job: Job,
  { clock, closing, log }: JobContext,
  lost: AbortSignal,
): Promise<void> {
  const { ms, message } = limitOf("TRAINING");
  const late = new AbortController();
  const done = new AbortController();
  void clock.wait(ms, done.signal).then(() => late.abort());
  const errors: string[] = [];
  try {
    const { code, signal, error } = await runCommand({
      command,
      env: { ...withoutSecrets(process.env), ...files },
      signal: AbortSignal.any([late.signal, closing, lost]),
      onLine: (stream, line) => {
        log.info({ requestId: job.request_id ?? undefined, jobId: job.id, stream, line }, "trainer");
        if (stream === "stderr") errors.push(line);
        if (errors.length > quotedLines) errors.shift();
      },
    });
    if (closing.aborted) throw new Error("The service is closing.");
    lost.throwIfAborted();
    if (late.signal.aborted) throw new JobError(message);
    if (code === 0) return;
    const exit = signal === null ? `exited with ${code}` : `was ended by ${signal}`;
    const how = error === undefined ? exit : `could not be started (${error})`;
    const said = errors.join("\n").slice(-quotedCharacters).trim();
    throw new Error(`The trainer ${how}${said === "" ? " and wrote nothing to stderr." : `:\n${said}`}`);
  } finally {
    done.abort();
  }
}
