import { titleOf } from "../../../provider/run/urn";
import { formatNumber } from "../../terminal/output";
import type { Acceptance, StackReport } from "../finding";
import { dateText, locationText } from "./wording";

/** A list after the findings: what was accepted, and what is new. */
export interface Note {
  readonly title: string;
  readonly entries: readonly string[];
}

/** Returns the lists about recommender.yaml and about the earlier report. Lists without entries are left out. */
export function notesOf({ accepted, expired, unused, since }: StackReport): Note[] {
  const time = since ? dateText(since.comparedAt) : "";
  const none = since && since.added.length + since.resolved.length === 0;
  const notes: Note[] = [
    {
      title: `Accepted in recommender.yaml: ${formatNumber(accepted.length)}`,
      entries: accepted.flatMap(({ comparison, finding, by }) =>
        by.map((entry) => {
          const what = comparison === "drift" ? "drift" : "pending change";
          const property = entry.property === undefined ? "" : `, ${entry.property}`;
          const title = `${titleOf(finding.resource)} ${finding.kind} (${what}${property})`;
          return `${title}: ${entry.reason}; until ${entry.until}, ${locationText(entry)}`;
        }),
      ),
    },
    {
      title: `Expired in recommender.yaml: ${formatNumber(expired.length)}`,
      entries: expired.map(
        (entry) =>
          `${entryText(entry)}: expired after ${entry.until}, ${locationText(entry)}. ` +
          "Resolve the finding and remove the entry, or set a later date.",
      ),
    },
    {
      title: `Unused in recommender.yaml: ${formatNumber(unused.length)}`,
      entries: unused.map(
        (entry) =>
          `${entryText(entry)}: matches no finding, ${locationText(entry)}. ` +
          "Remove the entry, or check its names.",
      ),
    },
    { title: `New since ${time}`, entries: since?.added.map(({ title }) => title) ?? [] },
    { title: `Resolved since ${time}`, entries: since?.resolved.map(({ title }) => title) ?? [] },
    { title: `Since ${time}`, entries: none ? ["No finding is new or resolved."] : [] },
  ];
  return notes.filter(({ entries }) => entries.length > 0);
}

function entryText({ resource, property, reason }: Acceptance): string {
  return `${resource}${property === undefined ? "" : `, ${property}`} (${reason})`;
}
