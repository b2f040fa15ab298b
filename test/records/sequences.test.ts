import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { systemClock } from "../../client/clock";
import { readSettings } from "../../client/settings";
import { limits } from "../../contract";
import { eventRecords } from "../../provider/event-records";
import { InitialState, type PendingOperation } from "../../provider/run/initial-state";
import { Run, useSession } from "../../provider/run/session";
import type { Properties } from "../../provider/run/state-entry";
import { stackState } from "../faults/bindings";
import { type Fault, RemoteModel } from "./remote-model";
import { type Change, changes, SourceModel } from "./source-model";

// A fixed seed, so a change does not fail by chance. `npm run test:sequences` tries random ones.
const { SEQUENCES, SEED = "20261117" } = process.env;
const numRuns = Math.max(50, Number(SEQUENCES ?? 50));
jest.setTimeout(SEQUENCES ? 4 * 3_600_000 : 1_800_000);

const directory = mkdtempSync(join(tmpdir(), "recommender-sequences-"));
const stateHome = process.env.XDG_STATE_HOME;
beforeAll(() => {
  // Three records fill a batch, so a short source has several.
  jest.replaceProperty(limits, "recordsPerUpsert", 3 as never);
});
afterAll(() => {
  process.env.XDG_STATE_HOME = stateHome;
  rmSync(directory, { recursive: true });
});

const faults: fc.Arbitrary<Fault> = fc.record({
  how: fc.constantFrom("none", "none", "fail", "reject", "kill", "kill"),
  afterCalls: fc.nat({ max: 4 }),
  isExecuted: fc.boolean(),
});

/** Conditions of an update. */
interface Update {
  readonly fault: Fault;
  /** Whether no record may be rejected. */
  readonly isStrict: boolean;
  /** Whether the state cannot be exported. */
  readonly isBlind: boolean;
}

const flawless: Update = {
  fault: { how: "none", afterCalls: 0, isExecuted: false },
  isStrict: false,
  isBlind: false,
};

type Step =
  | { readonly do: "change"; readonly change: Change }
  | ({ readonly do: "up"; readonly machine: number } & Update)
  | { readonly do: "remove" | "refresh"; readonly machine: number }
  | { readonly do: "clear" }
  | { readonly do: "delete"; readonly every: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("change" as const), change: changes }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("up" as const),
      machine: fc.nat({ max: 1 }),
      fault: faults,
      isStrict: fc.boolean(),
      isBlind: fc.integer({ max: 7 }).map((number) => number === 7),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("refresh" as const, "remove" as const),
      machine: fc.nat({ max: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("clear" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("delete" as const), every: fc.integer({ min: 1, max: 3 }) }),
  },
);

const urn = "urn:pulumi:test::shop::pulumi-nodejs:dynamic/recommender:EventRecords::acts";
const config: Record<string, string> = {
  "recommender:baseUrl": "http://model",
  "recommender:apiKey": "key",
  "recommender:accessToken": "token",
};
let worlds = 0;

/** Stack with one resource, run on two machines that share only its state. */
class StackWorld {
  readonly source = new SourceModel("e");
  readonly remote = new RemoteModel();
  readonly #home = join(directory, String(++worlds));
  readonly #file = join(directory, `${worlds}.ndjson`);
  #entry: { id: string; inputs: Properties; outs: Properties } | undefined;
  #pending: PendingOperation[] = [];
  #deleted = new Set<string>();

  async up(machine: number, { fault, isStrict, isBlind }: Update): Promise<void> {
    await this.#begin(machine, fault, isBlind);
    const declared: Properties = {
      ...{ eventDatasetId: "d", source: this.#file, parallel: 2, __urn: urn },
      ...{ maxFailures: isStrict ? 0 : 100, rejectsFile: join(directory, `rejects-${machine}`) },
    };
    const { inputs, failures } = await eventRecords.check(this.#entry?.inputs ?? {}, declared);
    expect(failures).toEqual([]);
    const row = this.#entry;
    const isSame = row && !(await eventRecords.diff(row.id, row.outs, inputs)).changes;
    if (!isSame) {
      const work = row
        ? eventRecords.update(row.id, row.outs, inputs).then(({ outs }) => ({ id: row.id, outs }))
        : eventRecords.create(inputs);
      const ended = await work.catch((error: Error & { id?: string; properties?: Properties }) => error);
      this.#write();
      if (fault.how === "kill") {
        // Killed during the upload, or after it but before the engine has recorded its end.
        this.#pending.push({ urn, inputs, isCreate: !row });
        return;
      }
      if (ended instanceof Error) {
        if (ended.id) this.#entry = { id: ended.id, inputs, outs: ended.properties as Properties };
        return;
      }
      this.#entry = { ...ended, inputs };
    }
    this.#check();
  }

  async refresh(machine: number): Promise<void> {
    await this.#begin(machine);
    if (!this.#entry) return;
    const { props } = await eventRecords.read(this.#entry.id, this.#entry.outs);
    this.#entry = { ...this.#entry, outs: props };
    this.#write();
  }

  /** Removes the resource from the stack. Its records stay. */
  async remove(machine: number): Promise<void> {
    await this.#begin(machine);
    if (!this.#entry) return;
    await eventRecords.delete(this.#entry.id, this.#entry.outs);
    this.#entry = undefined;
    this.#write();
  }

  /** Runs `pulumi refresh --clear-pending-creates`. */
  async clear(machine: number): Promise<void> {
    await this.refresh(machine);
    this.#pending = [];
  }

  /** Deletes records outside the stack, like `events prune` or `events forget-user`. */
  delete(every: number): void {
    for (const [at, id] of [...this.remote.values.keys()].entries()) {
      if (at % every > 0) continue;
      this.remote.values.delete(id);
      this.#deleted.add(id);
    }
  }

  /** Writes the state like the engine, which then drops pending updates and keeps pending creates. */
  #write(): void {
    this.#pending = this.#pending.filter(({ isCreate }) => isCreate);
  }

  async #begin(machine: number, fault = flawless.fault, isBlind = false) {
    process.env.XDG_STATE_HOME = join(this.#home, String(machine));
    writeFileSync(this.#file, this.source.text);
    await eventRecords.configure({ config: { get: (key) => config[key] } });
    const pending = [...this.#pending];
    const read = async () => {
      if (isBlind) throw new Error("no export");
      return { pending };
    };
    const run = new Run(
      stackState(async () => []),
      new AbortController().signal,
      new InitialState(read),
    );
    const settings = readSettings((key) => config[`recommender:${key}`], {});
    useSession({ settings, client: this.remote.client(fault), clock: systemClock, run });
  }

  /** Checks that each record in the dataset is the last accepted one. Deleted records may be missing. */
  #check(): void {
    for (const [id, value] of this.source.expected) {
      const stored = this.remote.values.get(id);
      if (stored === undefined && this.#deleted.has(id)) continue;
      expect({ id, value: stored }).toEqual({ id, value });
      this.#deleted.delete(id);
    }
  }
}

test("after each successful update, the dataset has the last accepted record of each id", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 24, size: "max" }), async (sequence) => {
      const world = new StackWorld();
      for (const step of sequence) {
        if (step.do === "change") world.source.apply(step.change);
        else if (step.do === "up") await world.up(step.machine, step);
        else if (step.do === "delete") world.delete(step.every);
        else if (step.do === "clear") await world.clear(0);
        else await world[step.do](step.machine);
      }
      await world.up(0, flawless);
      await world.up(1, flawless);
    }),
    { numRuns, seed: Number(SEED) },
  );
});
