import { shortList } from "../release/gate";
import type { Contents } from "../release/history";
import type { Policy } from "./file";
import { freezesAt, isInWindow, nextStart, type StagePolicy } from "./schedule";

/** Gates of a promotion, in the order in which a review lists them. */
export const gateNames = [
  "policy",
  "order",
  "clock",
  "soak",
  "window",
  "freeze",
  "quality",
  "approvals",
] as const;

/** Name of a gate. Users can override each with `--override`. */
export type GateName = (typeof gateNames)[number];

/** A condition in `recommender.yaml`, and whether it holds. */
export interface Gate {
  readonly gate: GateName;
  readonly isOpen: boolean;
  readonly words: string;
  /** When the gate opens, as ISO 8601, if it only waits for a time. */
  readonly opensAt?: string;
}

/** Evidence for the gates of a promotion. */
export interface GateEvidence {
  readonly from: string;
  readonly to: string;
  readonly now: number;
  /** Time of the target's service. Undefined for an embedded service, null if the service does not report it. */
  readonly serviceTime: number | null | undefined;
  /** Newest time in both histories, which cannot be in the future. */
  readonly lastEntryAt: number | undefined;
  /** Id of a promotion to FROM, or of a rollback in it, that is running, was interrupted, or is still watched. */
  readonly unfinished: string | undefined;
  /** When the contents of the release went live in FROM. */
  readonly liveSince: number | undefined;
  readonly contents: Contents;
  readonly approvedBy: readonly string[];
  /** Whether recommender.yaml differs from its commit. */
  readonly isPolicyChanged: boolean;
}

/** Maximum difference between two clocks that are both right. */
const maxSkewMs = 5 * 60_000;

/** Returns the policy for a promotion to a stack, which may be named with its organization. */
export function stageOf({ promotion }: Pick<Policy, "promotion">, stack: string): StagePolicy {
  return promotion.stages[stack] ?? promotion.stages[shortName(stack)] ?? { freezes: [] };
}

/** Whether a gate of a stage depends on the time, so a wrong clock could open it. */
export function dependsOnTime({ soak, windows, freezes }: StagePolicy): boolean {
  return soak !== undefined || windows !== undefined || freezes.length > 0;
}

/** Evaluates the gates of a promotion. Only gates that the policy has are listed. */
export function evaluateGates(policy: Pick<Policy, "promotion">, evidence: GateEvidence): Gate[] {
  const stage = stageOf(policy, evidence.to);
  return [
    evidence.isPolicyChanged
      ? closed("policy", "recommender.yaml differs from its commit, so nobody has reviewed it")
      : undefined,
    orderGate(policy.promotion.order, evidence),
    dependsOnTime(stage) ? clockGate(evidence) : undefined,
    soakGate(stage, evidence),
    windowGate(stage, evidence),
    freezeGate(stage, evidence),
    qualityGate(stage, evidence),
    approvalsGate(stage, evidence),
  ].filter((gate) => gate !== undefined);
}

/** Returns when all gates are open, if the closed ones only wait for a time. */
export function allOpenAt(
  policy: Pick<Policy, "promotion">,
  gates: readonly Gate[],
  { to, now, liveSince }: GateEvidence,
): string | undefined {
  const waiting = gates.filter(({ isOpen }) => !isOpen);
  if (waiting.length === 0 || waiting.some(({ opensAt }) => opensAt === undefined)) return undefined;
  const stage = stageOf(policy, to);
  const soaked = (liveSince ?? now) + (stage.soak?.ms ?? 0);
  return isoTime(nextStart(stage, Math.max(now, soaked)));
}

function orderGate(order: readonly string[] | undefined, { from, to }: GateEvidence): Gate | undefined {
  if (!order) return undefined;
  const at = order.findIndex((name) => name === to || name === shortName(to));
  if (at < 0) return undefined;
  const previous = order[at - 1];
  if (previous === undefined)
    return closed("order", `${to} is the first stage, so nothing is promoted to it`);
  return previous === from || previous === shortName(from)
    ? open("order", `${previous} is the stage before ${to}`)
    : closed("order", `only ${previous} can be promoted to ${to}`);
}

function clockGate({ now, serviceTime, lastEntryAt = 0 }: GateEvidence): Gate | undefined {
  if (lastEntryAt > now + maxSkewMs)
    return closed("clock", "the history contains a later time than the clock of this machine");
  if (serviceTime === undefined) return undefined;
  if (serviceTime === null)
    return closed("clock", "the service does not report its time, so the clock of this machine is unproven");
  const minutes = Math.round(Math.abs(serviceTime - now) / 60_000);
  return Math.abs(serviceTime - now) > maxSkewMs
    ? closed("clock", `the clock of this machine differs by ${minutes} minutes from the clock of the service`)
    : open("clock", "the clocks of this machine and of the service agree");
}

function soakGate(
  { soak }: StagePolicy,
  { from, now, liveSince, unfinished }: GateEvidence,
): Gate | undefined {
  if (!soak) return undefined;
  if (unfinished !== undefined) return closed("soak", `${unfinished} of ${from} has not ended`);
  if (liveSince === undefined) return closed("soak", `${from} has no release that could soak`);
  const until = liveSince + soak.ms;
  const since = `${from} has run the release since ${minuteText(liveSince)}`;
  if (now >= until) return open("soak", `${since}, at least ${soak.text}`);
  return closed("soak", `${since}, but it must run for ${soak.text}`, until);
}

function windowGate({ windows }: StagePolicy, { now }: GateEvidence): Gate | undefined {
  if (!windows) return undefined;
  const current = windows.find((window) => isInWindow(window, now));
  const textOf = ({ days, from, to, timeZone }: (typeof windows)[number]) =>
    `${days.length === 7 ? "daily" : days.join(", ")} ${from} to ${to} ${timeZone}`;
  if (current) return open("window", `it is within ${textOf(current)}`);
  const all = windows.map(textOf).join("; ");
  return closed("window", `promotions start only ${all}`, nextStart({ windows, freezes: [] }, now));
}

function freezeGate({ freezes }: StagePolicy, { now }: GateEvidence): Gate | undefined {
  if (freezes.length === 0) return undefined;
  const current = freezesAt(freezes, now);
  if (current.length === 0) return open("freeze", "there is no freeze now");
  const reasons = current.map(({ reason, to, timeZone }) => `${reason} (until ${to} ${timeZone})`);
  return closed("freeze", `promotions are frozen: ${reasons.join("; ")}`, nextStart({ freezes }, now));
}

function qualityGate({ minQuality }: StagePolicy, { from, contents }: GateEvidence): Gate | undefined {
  if (minQuality === undefined) return undefined;
  const floors = qualityFloorsOf({ minQuality, freezes: [] }, contents);
  const failing = Object.entries(floors).flatMap(([model, floor]) => {
    const ndcg = contents.models.find(({ name }) => name === model)?.quality?.ndcgAt20;
    if (ndcg == null) return [`the NDCG@20 of ${model} in ${from} is unknown, ${floor} is required`];
    return ndcg < floor
      ? [`the NDCG@20 of ${model} in ${from} is ${ndcg.toFixed(4)}, ${floor} is required`]
      : [];
  });
  if (failing.length > 0) return closed("quality", shortList(failing));
  return open("quality", "all models reach the required NDCG@20");
}

/** Returns the required NDCG@20 of each model that FROM deploys. */
export function qualityFloorsOf({ minQuality }: StagePolicy, contents: Contents): Record<string, number> {
  if (minQuality === undefined) return {};
  if (typeof minQuality !== "number") return minQuality;
  const deployed = contents.deployments.flatMap(({ generator, ranker }) => [generator.model, ranker?.model]);
  return Object.fromEntries(deployed.flatMap((model) => (model ? [[model, minQuality]] : [])));
}

function approvalsGate({ approvals }: StagePolicy, { approvedBy }: GateEvidence): Gate | undefined {
  if (!approvals) return undefined;
  const { required, by, source, variable } = approvals;
  const counted = [...new Set(approvedBy)].filter((name) => !by || by.includes(name));
  const names = counted.length > 0 ? `: ${shortList(counted)}` : "";
  const words = `${counted.length} of ${required} approvals${names}`;
  if (counted.length >= required) return open("approvals", words);
  const who = by ? ` by ${shortList(by)}` : "";
  const how =
    source === "environment"
      ? `the pipeline lists them in ${variable}`
      : "each is a signed commit of FROM's release file";
  return closed("approvals", `${words}${who}; ${how}`);
}

function open(gate: GateName, words: string): Gate {
  return { gate, isOpen: true, words };
}

function closed(gate: GateName, words: string, opens?: number): Gate {
  const opensAt = isoTime(opens);
  return { gate, isOpen: false, words, ...(opensAt !== undefined && { opensAt }) };
}

function isoTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** Formats a time to the minute, as `2026-12-18 17:00 UTC`. */
export function minuteText(time: number | string): string {
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function shortName(stack: string): string {
  return stack.split("/").at(-1) ?? stack;
}
