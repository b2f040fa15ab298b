import { z } from "zod";
import { parseJson } from "../../../client/parse";
import { digest, readIfPossible, replaceFile, stateDirectory } from "../../../client/state-directory";
import { formatNumber } from "../../terminal/output";
import type { Announced, Report, StackReport } from "../finding";
import { changesBetween, earlierStack, identify } from "./findings-since";
import { post } from "./webhook";

/** Most findings of one kind that a message lists for a stack. */
const maxListed = 20;

const stored = z.array(z.object({ key: z.string(), title: z.string() }));

/** A report with the findings that the webhook knows, and why the message was not delivered. */
export interface AnnouncedReport {
  readonly report: Report;
  readonly failure?: string;
}

/**
 * Posts new and resolved findings to a webhook, in one message. What the webhook knows is in the earlier report or,
 * without one, in a file of this user. It changes only after a delivery, so nothing is lost if the delivery fails.
 */
export async function announce(report: Report, url: string, earlier?: Report): Promise<AnnouncedReport> {
  const stacks = report.stacks.map((stack) => {
    const known = earlier ? knownFrom(earlierStack(stack, earlier)) : readKnown(url, stack);
    return { stack, known, ...changesBetween(known, stack) };
  });
  const news = stacks.filter(({ added, resolved }) => added.length + resolved.length > 0);
  const failure = news.length > 0 ? await post(url, news.map(messageOf).join("\n\n")) : undefined;
  const announced = (one: (typeof stacks)[number]) => (failure === undefined ? one.now : [...one.known]);
  if (failure === undefined && !earlier)
    for (const one of news) replaceFile(knownFile(url, one.stack), JSON.stringify(one.now));
  return {
    report: {
      ...report,
      stacks: stacks.map((one) => ({ ...one.stack, announced: announced(one) })),
    },
    ...(failure !== undefined && { failure }),
  };
}

/** If the earlier run did not notify, its findings count as known, because its readers have seen its report. */
function knownFrom(earlier: StackReport | undefined): readonly Announced[] {
  return earlier ? (earlier.announced ?? identify(earlier)) : [];
}

function readKnown(url: string, stack: StackReport): readonly Announced[] {
  return stored.safeParse(parseJson(readIfPossible(knownFile(url, stack)) ?? "")).data ?? [];
}

function knownFile(url: string, { project, stack }: StackReport): string {
  return `${stateDirectory("announced")}/${digest([url, project, stack])}.json`;
}

interface News {
  readonly stack: StackReport;
  readonly added: readonly Announced[];
  readonly resolved: readonly Announced[];
}

function messageOf({ stack: { project, stack }, added, resolved }: News): string {
  const counts = [
    added.length > 0 && `${formatNumber(added.length)} new`,
    resolved.length > 0 && `${formatNumber(resolved.length)} resolved`,
  ].filter(Boolean);
  return [
    `*${escaped(`${project}/${stack}`)}*: ${counts.join(", ")}`,
    ...listed(":warning:", added),
    ...listed(":white_check_mark: resolved:", resolved),
  ].join("\n");
}

function listed(sign: string, findings: readonly Announced[]): string[] {
  const lines = findings.slice(0, maxListed).map(({ title }) => `• ${sign} ${escaped(title)}`);
  const more = findings.length - lines.length;
  return more > 0 ? [...lines, `• ${sign} ${formatNumber(more)} more`] : lines;
}

/** Escapes text for Slack. Otherwise a resource name such as `<!channel>` would alert everyone. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
