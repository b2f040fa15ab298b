import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { digest } from "../../../client/state-directory";
import type { JournalEntry } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { Bindings } from "../../faults/bindings";
import type { Declared } from "../../faults/declared";
import { newStack } from "../../faults/rows";
import { SmallEngine } from "../../faults/small-engine";

export const users: Declared = {
  kind: "UserDataset",
  name: "users",
  args: () => ({ name: "users", numShards: 1 }),
};
export const events: Declared = { ...users, kind: "EventDataset", name: "events" };

/** Request that creates `users`. */
export const request = { name: "users", numShards: 1, attributeSchema: null };

/** A service for all tests of a file, and for each test a new stack and a new machine. */
export class KilledRuns {
  observed!: ObservedService;
  engine!: SmallEngine;
  readonly messages: string[] = [];
  readonly bindings = new Bindings((_, message) => this.messages.push(message));
  #directory = "";

  /** Registers the set-up of a test file. */
  static use(): KilledRuns {
    const runs = new KilledRuns();
    beforeAll(async () => {
      runs.observed = await ObservedService.start();
    });
    afterAll(async () => {
      runs.bindings.close();
      await runs.observed.close();
    });
    beforeEach(() => runs.#begin());
    afterEach(async () => {
      await runs.engine.close();
      rmSync(runs.#directory, { recursive: true, force: true });
    });
    return runs;
  }

  #begin(): void {
    this.messages.length = 0;
    this.#directory = mkdtempSync(join(tmpdir(), "recommender-state-"));
    process.env.XDG_STATE_HOME = this.#directory;
    const { url, key } = this.observed.service;
    this.engine = new SmallEngine(newStack(), { url, key }, this.bindings);
  }

  /** Journal entry of a killed run. */
  entry(more: Partial<JournalEntry> = {}): JournalEntry {
    return {
      ...{ urn: this.engine.urnOf(users), service: this.observed.service.url, path: "/create-user-dataset" },
      ...{
        identity: digest(request),
        key: randomUUID(),
        derived: false,
        request,
        lineage: this.engine.stack,
      },
      ...{ at: new Date().toISOString(), pid: 999_999_999, host: hostname() },
      ...more,
    };
  }

  /** Returns how many user datasets were created since the last look at the calls. */
  created(): number {
    return this.observed.calls().filter((call) => call === "POST /create-user-dataset").length;
  }
}
