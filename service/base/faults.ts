import { z } from "zod";
import { decode, encode, jobTypes, wireSchema } from "../../contract";
import type { Clock } from "./clock";
import { ServiceError } from "./error";
import { detailsOf } from "./validation";

const times = z.int().min(1).default(1).describe("How many times the fault occurs.");

/** Faults that can be injected while the service runs. */
export const faultSwitches = z.strictObject({
  calls: z
    .array(
      z.strictObject({
        path: z.string().min(1).describe("Path of the operation, or * for all."),
        times,
        status: z.int().min(400).max(599).optional().describe("Status of the response."),
        reset: z.boolean().default(false).describe("Closes the connection without a response."),
        delayMs: z.int().min(0).default(0).describe("Milliseconds before the response."),
        after: z.boolean().default(false).describe("Runs the call first, so only its response is lost."),
      }),
    )
    .default([]),
  jobs: z
    .array(
      z.strictObject({
        jobType: z.enum(jobTypes).optional().describe("Type of the job; any by default."),
        name: z.string().optional().describe("Name of the job; any by default."),
        times,
        message: z.string().default("injected by /faults").describe("Error message of the job."),
      }),
    )
    .default([]),
  jobDelayMs: z.int().min(0).optional().describe("Milliseconds added to every job."),
});

type Switches = z.output<typeof faultSwitches>;

/** Fault of a call. */
export type CallFault = Switches["calls"][number];

/** Faults that are currently injected. */
export class Faults {
  private switches: Omit<Switches, "jobDelayMs"> = { calls: [], jobs: [] };
  jobDelayMs: number;

  constructor(private readonly firstDelayMs: number) {
    this.jobDelayMs = firstDelayMs;
  }

  /** Replaces all faults. An empty object removes them. */
  set(body: unknown): void {
    const schema = wireSchema(faultSwitches);
    const parsed = schema.safeParse(body);
    if (!parsed.success) {
      throw new ServiceError("BAD_REQUEST", "The faults are not valid. See `details`.", {
        details: detailsOf(parsed.error, schema),
      });
    }
    const { jobDelayMs, ...switches } = decode(faultSwitches, parsed.data) as Switches;
    this.switches = switches;
    this.jobDelayMs = jobDelayMs ?? this.firstDelayMs;
  }

  /** Returns the current faults as JSON. */
  toWire(): unknown {
    return encode(faultSwitches, { ...this.switches, jobDelayMs: this.jobDelayMs });
  }

  /** Returns the next fault for a call to this path, and counts it as occurred. */
  takeForCall(path: string): CallFault | undefined {
    return take(this.switches.calls, (fault) => fault.path === path || fault.path === "*");
  }

  /** Throws if a fault is injected for the job. */
  failJob(job: { readonly job_type: string; readonly name: string }): void {
    const fault = take(
      this.switches.jobs,
      ({ jobType = job.job_type, name = job.name }) => jobType === job.job_type && name === job.name,
    );
    if (fault) throw new Error(fault.message);
  }
}

/** Applies a fault to a call: a delay, an error response or a closed connection. */
export async function applyFault(fault: CallFault, clock: Clock, reset: () => void): Promise<void> {
  if (fault.delayMs > 0) await clock.wait(fault.delayMs);
  if (fault.reset) reset();
  // After a reset nobody receives the error, but it keeps the call from running.
  if (fault.reset || fault.status !== undefined) throw new InjectedError(fault.status ?? 503);
}

/** An error injected by /faults. */
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
    super(code, "This error was injected by /faults. PUT {} there to remove all faults.");
    this.statusCode = status;
  }
}

function take<T extends { times: number }>(list: T[], matches: (fault: T) => boolean): T | undefined {
  const at = list.findIndex(matches);
  const fault = list[at];
  if (!fault) return undefined;
  if (fault.times === 1) list.splice(at, 1);
  else list[at] = { ...fault, times: fault.times - 1 };
  return fault;
}
