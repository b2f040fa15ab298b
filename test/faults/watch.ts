import type { FaultProxy } from "./proxy";

/** State entry, reduced to the objects that it references. */
export interface Holder {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

/** Call that deletes an object of a kind. */
const removes: Record<string, string> = {
  EventDataset: "DELETE /delete-event-dataset",
  Model: "DELETE /delete-model",
  Deployment: "DELETE /shutdown-deployment",
};

/** Advice in a message that would delete an object of a kind, with its id. */
const advice: readonly [kind: string, command: RegExp][] = [
  ["Deployment", /recommender shutdown --project ([^\s`]+)/g],
  ["Model", /recommender models delete --project \S+ ([^\s`]+)/g],
];

/** Checks deletions and messages: an object in the state is neither deleted nor reported as safe to delete. */
export class Watch {
  readonly #found: string[] = [];
  #taken = 0;

  constructor(
    private readonly rows: () => readonly Holder[],
    private readonly proxy: FaultProxy,
    /** Whether a project has a live deployment. */
    private readonly serves: (projectId: string) => boolean,
  ) {}

  /** Handles a message or an error. */
  hear(message: string): void {
    for (const [kind, command] of advice) {
      for (const [, id] of message.matchAll(command)) {
        const holder = this.rows().find((row) => row.kind === kind && row.id === id);
        if (holder) this.#found.push(`${kind} ${holder.name} holds ${id}, but: ${message}`);
      }
    }
  }

  /** Checks at the end of a run that no deleted object is in the state. */
  look(): void {
    const taken = this.proxy.taken.slice(this.#taken);
    this.#taken = this.proxy.taken.length;
    for (const { call, status, url, body } of taken) {
      if (status !== 200 || !call.startsWith("DELETE")) continue;
      const holder = this.rows().find(({ kind, id }) => removes[kind] === call && (url + body).includes(id));
      // The deployment may have been created again since its shutdown.
      if (holder && !(holder.kind === "Deployment" && this.serves(holder.id)))
        this.#found.push(`${call} took away ${holder.id}, which ${holder.kind} ${holder.name} holds`);
    }
    expect(this.#found).toEqual([]);
  }
}
