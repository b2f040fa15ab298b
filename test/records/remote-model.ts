import type { Client } from "../../client/client";
import { routes } from "../../contract";

/**
 * What happens to an upload at a call, which the service may carry out all the same. After `fail` and `kill` no call
 * succeeds; `refuse` is the service's refusal of one whole batch.
 */
export interface Fault {
  readonly how: "none" | "fail" | "kill" | "refuse";
  readonly afterCalls: number;
  readonly isCarriedOut: boolean;
}

interface Sent {
  readonly event_id: string;
  readonly attributes: { readonly value: number; readonly refused?: boolean };
}

/** A service that keeps the last accepted record of each id. */
export class RemoteModel {
  readonly values = new Map<string, number>();

  /** A client to which a fault happens. */
  client({ how, afterCalls, isCarriedOut }: Fault): Client {
    let calls = 0;
    const send = async (_route: unknown, body: Buffer) => {
      const call = calls++;
      if (how === "refuse") {
        if (call === afterCalls) throw new Error("refused");
        await Promise.resolve();
        return this.#upsert(body);
      }
      const isStruck = how !== "none" && call >= afterCalls;
      if (isStruck && !(isCarriedOut && call === afterCalls)) throw new Error("struck");
      const reply = this.#upsert(body);
      await Promise.resolve();
      if (isStruck) throw new Error("struck");
      return reply;
    };
    const call = async (route: unknown) => {
      if (route === routes.getEventDataset) return { numShards: 10 };
      throw new Error("not modelled");
    };
    // The model has no extensions, so a refresh cannot count the records.
    const supports = async () => false;
    return { service: "model", baseUrl: "http://model", send, call, supports } as unknown as Client;
  }

  #upsert(body: Buffer): { succeedIds: string[]; failedIds: string[] } {
    const succeedIds = new Set<string>();
    const failedIds = new Set<string>();
    for (const { event_id, attributes } of (JSON.parse(body.toString()) as { events: Sent[] }).events) {
      if (attributes.refused) failedIds.add(event_id);
      else {
        succeedIds.add(event_id);
        this.values.set(event_id, attributes.value);
      }
    }
    return { succeedIds: [...succeedIds], failedIds: [...failedIds] };
  }
}
