import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonMap } from "../../contract";
import { tracedPart, traceEnvironment } from "../../telemetry/tracing";
import { JobError } from "../base/job-error";
import type { ProjectData } from "../store/project-data";
import type { Job } from "../store/tables";
import { limitOf } from "../threads/pool";
import { nothingToLearn, type Progress, type Trained } from "../threads/train";
import { type TrainingData, tableNames } from "../threads/training-data";
import { runCommand } from "./command";
import type { JobContext } from "./context";

/** A model to train. */
export interface Training {
  readonly data: ProjectData;
  readonly algorithmType: string;
  readonly parameters: JsonMap;
  readonly modelId: string;
}

/** Trains a model and stores it. `signal` is aborted when another process takes over the job. */
export type Trainer = (
  training: Training,
  job: Job,
  context: JobContext,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
) => Promise<Trained>;

/** Returns the trainer that the service is configured with. */
export function trainerOf({ options: { trainer } }: JobContext): Trainer {
  return trainer === undefined ? builtIn : commandTrainer(trainer);
}

const builtIn: Trainer = ({ data, parameters, modelId }, _, { pool }, signal, onProgress) =>
  pool.run({ kind: "TRAINING", data, parameters, modelId, share: pool.share }, signal, onProgress);

/** Creates a trainer that runs a command. The command reads the training data from files and writes a model. */
function commandTrainer(command: string): Trainer {
  return async (training, job, context, signal) => {
    const { pool, dataDirectory } = context;
    const directory = join(dataDirectory.work, `${job.id}-${job.attempt}`);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    try {
      const data = await tracedPart({ name: "phase read" }, () =>
        pool.run({ kind: "TRAINING_DATA", data: training.data, directory }, signal),
      );
      if (data.interactions === 0) throw nothingToLearn(training.data);
      const env = await writeParameters(directory, training, data, job);
      await tracedPart({ name: "phase train" }, () =>
        execute(command, { ...env, ...traceEnvironment() }, job, context, signal),
      );
      const { modelId } = training;
      return await tracedPart({ name: "phase save" }, () =>
        pool.run({ kind: "TRAINED_MODEL", file: env.RECOMMENDER_MODEL, data, modelId }, signal),
      );
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };
}

/** Writes the parameters file. @returns environment variables with the paths of all files */
async function writeParameters(directory: string, training: Training, data: TrainingData, job: Job) {
  const { users, items, interactions } = data;
  const file = join(directory, "parameters.json");
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
    RECOMMENDER_INTERACTIONS: join(directory, tableNames.interactions),
    RECOMMENDER_USERS: join(directory, tableNames.users),
    RECOMMENDER_ITEMS: join(directory, tableNames.items),
    RECOMMENDER_PARAMETERS: file,
    RECOMMENDER_MODEL: join(directory, "model"),
    RECOMMENDER_WORK: directory,
  };
}

/** Removes variables that give access to the service's data, and those whose names look like secrets. */
function withoutSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const secret = /^(RECOMMENDER_|PG|AWS_|DATABASE_URL$)|KEY|SECRET|TOKEN|PASS(WORD|PHRASE|WD)|CREDENTIAL/i;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.test(name)));
}

/** How much of the command's stderr is quoted in the message of a failed job. */
const quotedLines = 20;
const quotedCharacters = 2000;

async function execute(
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
    const exit = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    const outcome = error === undefined ? exit : `could not be started (${error})`;
    const stderr = errors.join("\n").slice(-quotedCharacters).trim();
    throw new Error(
      `The trainer ${outcome}${stderr === "" ? " and wrote nothing to stderr." : `:\n${stderr}`}`,
    );
  } finally {
    done.abort();
  }
}
