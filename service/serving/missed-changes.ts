import type { Change } from "../store/changes";
import type { ProjectData } from "../store/project-data";

/** Maximum size of the changes that are collected during one build, in bytes. */
const mostBytes = 128 * 1024 * 1024;

/** Estimated size of an event without its texts, in bytes. */
const eventBytes = 200;

/** The writes that a deployment missed while it was built, without the attributes of events. */
export class MissedChanges {
  readonly changes: Change[] = [];
  private bytes = 0;
  private readonly end = new AbortController();

  constructor(
    private readonly data: Pick<ProjectData, "items" | "events">,
    private readonly most = mostBytes,
  ) {}

  /** Aborted if the changes exceed their limit. The build must then start again. */
  get tooMany(): AbortSignal {
    return this.end.signal;
  }

  /** Collects a write if it concerns the project. */
  add(change: Change): void {
    if (this.end.signal.aborted || !this.concerns(change)) return;
    const needed = withoutAttributes(change);
    this.changes.push(needed);
    this.bytes += sizeOf(needed);
    if (this.bytes <= this.most) return;
    this.changes.length = 0;
    this.end.abort(
      new Error(
        "Too many changes arrived while the deployment was being built; the service builds it again.",
      ),
    );
  }

  private concerns(change: Change): boolean {
    const { items, events } = this.data;
    if ("forgotten" in change) return change.eventDatasetId === events.id;
    return change.dataset === ("items" in change ? items : events).number;
  }
}

/** Removes the attributes of events, which may be large and which a deployment does not use. */
function withoutAttributes(change: Change): Change {
  if (!("written" in change)) return change;
  const written = change.written.map(({ seq, user_id, item_id, ts, event_type, event_value }) => {
    return { seq, user_id, item_id, ts, event_type, event_value };
  });
  return { ...change, written };
}

function sizeOf(change: Change): number {
  if ("items" in change) {
    let bytes = 0;
    for (const [id, { attributes }] of change.items)
      bytes += eventBytes + 2 * id.length + 2 * JSON.stringify(attributes).length;
    return bytes;
  }
  if (!("written" in change)) return eventBytes;
  return [...change.written, ...change.deleted].reduce(
    (sum, event) => sum + eventBytes + 2 * (event.user_id.length + event.item_id.length),
    0,
  );
}
