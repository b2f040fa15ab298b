import type { Client } from "../../client/client";
import { type Route, routes } from "../../contract";

/**
 * Fault of an upload from a certain call on. The service may still execute that call. After `fail` and `kill`, no call
 * succeeds. With `reject`, the service rejects one batch.
 */
export interface Fault {
  readonly how: "none" | "fail" | "kill" | "reject";
  readonly afterCalls: number;
  readonly isExecuted: boolean;
}

interface Sent {
  readonly event_id: string;
  readonly attributes: { readonly value: number; readonly rejected?: boolean };
}

/** Model of a service: stores the last accepted record of each id. */
export class RemoteModel {
  readonly values = new Map<string, number>();

  /** Returns a client with a fault. */
  client({ how, afterCalls, isExecuted }: Fault): Client {
    let calls = 0;
    const send = async (_route: unknown, body: Buffer) => {
      const call = calls++;
      if (how === "reject") {
        if (call === afterCalls) throw new Error("rejected");
        await Promise.resolve();
        return this.#upsert(body);
      }
      const isFailing = how !== "none" && call >= afterCalls;
      if (isFailing && !(isExecuted && call === afterCalls)) throw new Error("failed");
      const reply = this.#upsert(body);
      await Promise.resolve();
      if (isFailing) throw new Error("failed");
      return reply;
    };
    const call = async (route: unknown) => {
      if (route === routes.getEventDataset) return { numShards: 10 };
      throw new Error("not modelled");
    };
    // The model has no extensions, so a refresh cannot count the records.
    const supports = async ({ extension }: Route) => !extension;
    return { service: "model", baseUrl: "http://model", send, call, supports } as unknown as Client;
  }

  #upsert(body: Buffer): { succeedIds: string[]; failedIds: string[] } {
    const succeedIds = new Set<string>();
    const failedIds = new Set<string>();
    for (const { event_id, attributes } of (JSON.parse(body.toString()) as { events: Sent[] }).events) {
      if (attributes.rejected) failedIds.add(event_id);
      else {
        succeedIds.add(event_id);
        this.values.set(event_id, attributes.value);
      }
    }
    return { succeedIds: [...succeedIds], failedIds: [...failedIds] };
  }
}
