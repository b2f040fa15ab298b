import type { FaultProxy } from "./proxy";

/** A row of the state, as far as it matters who holds what. */
export interface Holder {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

/** The call that takes something of a kind away. */
const removes: Record<string, string> = {
  EventDataset: "DELETE /delete-event-dataset",
  Model: "DELETE /delete-model",
  Deployment: "DELETE /shutdown-deployment",
};

/** Advice that takes something of a kind away, with its id. */
const advice: readonly [kind: string, command: RegExp][] = [
  ["Deployment", /recommender shutdown --project ([^\s`]+)/g],
  ["Model", /recommender models delete --project \S+ ([^\s`]+)/g],
];

/** Holds what is deleted and what is said against the state: what a row holds stays, and nobody is told otherwise. */
export class Watch {
  readonly #found: string[] = [];
  #taken = 0;

  constructor(
    private readonly rows: () => readonly Holder[],
    private readonly proxy: FaultProxy,
    /** Whether a project serves. */
    private readonly serves: (projectId: string) => boolean,
  ) {}

  /** Something is said, or an error is shown. */
  hear(message: string): void {
    for (const [kind, command] of advice) {
      for (const [, id] of message.matchAll(command)) {
        const holder = this.rows().find((row) => row.kind === kind && row.id === id);
        if (holder) this.#found.push(`${kind} ${holder.name} holds ${id}, but: ${message}`);
      }
    }
  }

  /** A run has ended: nothing that it took away may be held by a row. */
  look(): void {
    const taken = this.proxy.taken.slice(this.#taken);
    this.#taken = this.proxy.taken.length;
    for (const { call, status, url, body } of taken) {
      if (status !== 200 || !call.startsWith("DELETE")) continue;
      const holder = this.rows().find(({ kind, id }) => removes[kind] === call && (url + body).includes(id));
      // What was taken out of service may have been deployed again since.
      if (holder && !(holder.kind === "Deployment" && this.serves(holder.id)))
        this.#found.push(`${call} took away ${holder.id}, which ${holder.kind} ${holder.name} holds`);
    }
    expect(this.#found).toEqual([]);
  }
}
