import { z } from "zod";
import { decode, encode, jobTypes, wireSchema } from "../../contract";
import type { Clock } from "./clock";
import { ServiceError } from "./error";
import { detailsOf } from "./validation";

const times = z.int().min(1).default(1).describe("How often; then the switch is off again.");

/** What can be switched on while the service runs. */
export const faultSwitches = z.strictObject({
  calls: z
    .array(
      z.strictObject({
        path: z.string().min(1).describe("Path of the operation; * for all."),
        times,
        status: z.int().min(400).max(599).optional().describe("Answers this status."),
        reset: z.boolean().default(false).describe("Ends the connection without an answer."),
        delayMs: z.int().min(0).default(0).describe("Waits before it answers."),
        after: z.boolean().default(false).describe("Carries the call out first; only its answer is lost."),
      }),
    )
    .default([]),
  jobs: z
    .array(
      z.strictObject({
        jobType: z.enum(jobTypes).optional().describe("Kind of job; any when left out."),
        name: z.string().optional().describe("Name of the job; any when left out."),
        times,
        message: z.string().default("switched on by /faults").describe("Reason that the job tells."),
      }),
    )
    .default([]),
  jobDelayMs: z.int().min(0).optional().describe("Stretches every job by so much."),
});

type Switches = z.output<typeof faultSwitches>;

/** One call's fault. */
export type CallFault = Switches["calls"][number];

/** The faults that are switched on now. */
export class Faults {
  private switches: Omit<Switches, "jobDelayMs"> = { calls: [], jobs: [] };
  jobDelayMs: number;

  constructor(private readonly firstDelayMs: number) {
    this.jobDelayMs = firstDelayMs;
  }

  /** Takes new switches in place of the old ones; the empty object switches all off. */
  set(body: unknown): void {
    const schema = wireSchema(faultSwitches);
    const parsed = schema.safeParse(body);
    if (!parsed.success) {
      throw new ServiceError("BAD_REQUEST", "The fault switches are not valid; see details.", {
        details: detailsOf(parsed.error, schema),
      });
    }
    const { jobDelayMs, ...switches } = decode(faultSwitches, parsed.data) as Switches;
    this.switches = switches;
    this.jobDelayMs = jobDelayMs ?? this.firstDelayMs;
  }

  /** The switches as they stand, on the wire. */
  answer(): unknown {
    return encode(faultSwitches, { ...this.switches, jobDelayMs: this.jobDelayMs });
  }

  /** The fault of a call to this path, used up by one. */
  ofCall(path: string): CallFault | undefined {
    return take(this.switches.calls, (fault) => fault.path === path || fault.path === "*");
  }

  /** Throws when a fault is switched on for the job. */
  failJob(job: { readonly job_type: string; readonly name: string }): void {
    const fault = take(
      this.switches.jobs,
      ({ jobType = job.job_type, name = job.name }) => jobType === job.job_type && name === job.name,
    );
    if (fault) throw new Error(fault.message);
  }
}

/** Waits, answers with an error or ends the connection, as the fault says. */
export async function carryOut(fault: CallFault, clock: Clock, reset: () => void): Promise<void> {
  if (fault.delayMs > 0) await clock.wait(fault.delayMs);
  if (fault.reset) reset();
  // After a reset nobody hears the error, but it keeps the call from being carried out.
  if (fault.reset || fault.status !== undefined) throw new InjectedError(fault.status ?? 503);
}

/** An error that /faults asked for. */
export class InjectedError extends ServiceError {
  override readonly statusCode: number;

  constructor(status: number) {
    const code =
      status === 429
        ? "RATE_LIMITED"
        : status === 401
          ? "UNAUTHENTICATED"
          : status < 500
            ? "BAD_REQUEST"
            : "UNAVAILABLE";
    super(code, "Switched on by /faults; PUT {} there to switch all faults off.");
    this.statusCode = status;
  }
}

function take<T extends { times: number }>(list: T[], fits: (fault: T) => boolean): T | undefined {
  const at = list.findIndex(fits);
  const fault = list[at];
  if (!fault) return undefined;
  if (fault.times === 1) list.splice(at, 1);
  else list[at] = { ...fault, times: fault.times - 1 };
  return fault;
}
