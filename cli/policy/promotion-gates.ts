import { basename } from "node:path";
import { embeddedDirectory, readSettings } from "../../client/settings";
import { sameContents } from "../release/gate";
import type { Contents, Release, ReleaseFile } from "../release/history";
import type { OpenStack } from "../stack/open";
import type { ProgramState } from "../stack/program";
import { readApprovals } from "./approvals";
import { policyFile, readPolicy } from "./file";
import {
  allOpenAt,
  dependsOnTime,
  evaluateGates,
  type Gate,
  type GateEvidence,
  type GateName,
  qualityFloorsOf,
  stageOf,
} from "./gates";

/** A closed gate that somebody overrides, and why. */
export interface Override {
  readonly gates: readonly GateName[];
  readonly reason: string;
}

/** A gate, and why it is overridden. */
export interface ReviewedGate extends Gate {
  readonly overridden?: string;
}

/** The gates of a promotion. */
export interface GateReview {
  readonly gates: readonly ReviewedGate[];
  /** When all gates are open, if the closed ones only wait for a time. */
  readonly opensAt?: string;
  /** Whether the promotion may start. */
  readonly isOpen: boolean;
  /** NDCG@20 that the policy requires of each model. */
  readonly minQuality: Readonly<Record<string, number>>;
}

/** State of a promotion when its gates are evaluated. */
export interface GateSubject {
  readonly from: OpenStack;
  readonly to: OpenStack;
  readonly fromFile: ReleaseFile;
  readonly toFile: ReleaseFile;
  readonly program: ProgramState;
  /** Contents of FROM, with the quality of its models. */
  readonly contents: Contents;
  readonly override: Override | undefined;
}

/**
 * Reads the policy and evaluates the gates of a promotion. Throws if the policy cannot be read, so a broken file stops
 * every promotion.
 */
export async function reviewGates(subject: GateSubject): Promise<GateReview> {
  const { from, to, fromFile, toFile, program, contents, override } = subject;
  const policy = readPolicy(to.location.cwd);
  const source = fromFile.latest;
  const stage = stageOf(policy, to.name);
  const evidence: GateEvidence = {
    from: from.name,
    to: to.name,
    now: Date.now(),
    serviceTime: dependsOnTime(stage) ? await serviceTimeOf(to) : undefined,
    lastEntryAt: lastTime([...fromFile.releases, ...toFile.releases]),
    unfinished: (fromFile.interrupted ?? fromFile.watched)?.id,
    liveSince: liveSince(fromFile.releases, source),
    contents,
    approvedBy: await readApprovals(stage, source, { path: fromFile.path, environment: to.environment }),
    isPolicyChanged: program.changed.some((path) => basename(path) === policyFile),
  };
  const gates = evaluateGates(policy, evidence).map((gate) =>
    !gate.isOpen && override?.gates.includes(gate.gate) ? { ...gate, overridden: override.reason } : gate,
  );
  const opensAt = allOpenAt(policy, gates, evidence);
  const isOpen = gates.every((gate) => gate.isOpen || "overridden" in gate);
  const minQuality = qualityFloorsOf(stage, contents);
  return { gates, isOpen, minQuality, ...(opensAt !== undefined && { opensAt }) };
}

/** Returns the gates as a history entry records them. */
export function recordedGates({ gates }: GateReview): NonNullable<Release["gates"]> {
  return gates.map(({ gate, isOpen, words, overridden }) => ({
    gate,
    state: overridden === undefined ? (isOpen ? "open" : "closed") : "overridden",
    words,
    ...(overridden !== undefined && { reason: overridden }),
  }));
}

/** Returns when the contents of a release went live: the end of the entry that last changed the stack to them. */
export function liveSince(releases: readonly Release[], source: Release | undefined): number | undefined {
  if (!source?.contents) return undefined;
  const { contents } = source;
  const done = releases.filter(({ status }) => status === "done");
  const changed = done.findLastIndex((one) => !one.contents || !sameContents(one.contents, contents));
  const first = done[changed + 1];
  return first && Date.parse(first.endedAt ?? first.beganAt);
}

function lastTime(releases: readonly Release[]): number | undefined {
  const times = releases.flatMap(({ beganAt, endedAt }) => [beganAt, ...(endedAt ? [endedAt] : [])]);
  return times.length > 0 ? Math.max(...times.map((time) => Date.parse(time))) : undefined;
}

/**
 * Returns the time of a stack's service. Nobody can change it by changing the clock of this machine. Undefined for an
 * embedded service, which runs on this machine. Null if the service does not report a time.
 */
async function serviceTimeOf(to: OpenStack): Promise<number | null | undefined> {
  const { baseUrl } = readSettings(await to.config(), to.environment);
  if (embeddedDirectory(baseUrl) !== undefined) return undefined;
  try {
    const signal = AbortSignal.timeout(10_000);
    const { headers } = await fetch(baseUrl, { method: "HEAD", redirect: "manual", signal });
    const time = Date.parse(headers.get("date") ?? "");
    return Number.isNaN(time) ? null : time;
  } catch {
    return null;
  }
}
