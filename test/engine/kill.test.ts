import fc from "fast-check";
import { FaultProxy } from "../faults/proxy";
import { declaredBy, KilledStack, killedProgram } from "./killed-stack";
import { type Kill, KillingGround, type Moment } from "./killing";
import { ObservedService } from "./observed-service";
import { spread, type Width } from "./window";

const kills = Number(process.env.KILLS ?? 8);
const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000_000);
/** Stacks that are killed side by side. */
const lanes = 2;

const means = (["SIGKILL", "SIGINT", "SIGTERM"] as const).flatMap((signal) =>
  (["provider", "engine"] as const).map((target) => ({ signal, target })),
);
const moments = fc.record({
  /** Where among the calls that are still to come. */
  place: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  phase: fc.constantFrom("sent", "taken", "answered", "any"),
  ms: fc.integer({ min: 0, max: 40 }),
  anyMs: fc.integer({ min: 0, max: 2000 }),
  /** Whether the run after it is killed too. */
  again: fc.boolean(),
});

let observed: ObservedService;
let ground: KillingGround;
beforeAll(async () => {
  observed = await ObservedService.start({ jobDelayMs: 300, planShards: 100_000 });
  ground = await KillingGround.make(killedProgram, observed.environment);
});
afterAll(async () => {
  await ground.dispose();
  await observed.close();
});

/** Kills stacks one after the other, each while it is made and while it is changed, until the kills are used up. */
class Lane {
  constructor(
    private readonly name: string,
    private readonly next: () => (Kill & { again: boolean; place: number; phase: string }) | undefined,
    private readonly tally: Tally,
  ) {}

  async run(): Promise<void> {
    const proxy = await FaultProxy.start(observed.service);
    try {
      for (let number = 0; this.tally.struck < kills && !this.tally.failed; number++) {
        const stack = new KilledStack(`${this.name}${number}`, ground, proxy, observed.service.dataDir);
        await stack.init();
        for (const version of [1, 2]) await this.#bringTo(version, stack);
        const { code, output } = await stack.preview(2);
        expect({ stack: stack.name, code, output }).toMatchObject({ code: 0 });
        this.tally.widths.push(...stack.widths);
        this.tally.pending += stack.pendingSeen;
        this.tally.stacks++;
      }
    } catch (error) {
      this.tally.failed = true;
      throw error;
    } finally {
      await proxy.close();
    }
  }

  async #bringTo(version: number, stack: KilledStack): Promise<void> {
    for (let again = true; again && this.tally.struck < kills; ) {
      const drawn = this.next();
      if (!drawn) break;
      const kill = { ...drawn, moment: placed(drawn, stack.remaining(version)) };
      const { code, struck } = await stack.up(version, kill);
      this.tally.log.push(
        `${stack.name} v${version}: ${kill.signal} to the ${kill.target} at ${JSON.stringify(kill.moment)}: ` +
          `${struck ? "struck" : "too late"}, exit code ${code}`,
      );
      if (struck) this.tally.struck++;
      again = drawn.again && code !== 0;
    }
    const { code, output } = await stack.up(version);
    expect({ stack: stack.name, version, code, output }).toMatchObject({ code: 0 });
    expect({ stack: stack.name, version, held: stack.held() }).toEqual({
      stack: stack.name,
      version,
      held: declaredBy(version),
    });
  }
}

interface Tally {
  struck: number;
  stacks: number;
  pending: number;
  failed: boolean;
  readonly log: string[];
  readonly widths: Width[];
}

type Drawn = Kill & { place: number; phase: string };
function placed({ place, phase, moment }: Drawn, remaining: number): Moment {
  const { ms } = moment as { ms: number };
  if (phase === "any") return { ms };
  const at = 1 + Math.floor(place * remaining);
  return phase === "answered" ? { at, phase, ms } : { at, phase: phase as "sent" | "taken" };
}

test(`after each of ${kills} kills the next run carries on: nothing is made twice, nothing is lost`, async () => {
  // Some strike too late, when the run is over; others take their place.
  const plan = fc.sample(moments, { seed, numRuns: kills * 4 }).map(({ ms, anyMs, ...drawn }, at) => ({
    ...(means[at % means.length] as (typeof means)[number]),
    ...drawn,
    moment: { ms: drawn.phase === "any" ? anyMs : ms },
  }));
  const tally: Tally = { struck: 0, stacks: 0, pending: 0, failed: false, log: [], widths: [] };
  const began = Date.now();
  const run = Array.from({ length: lanes }, (_, at) =>
    new Lane(`lane${at}n`, () => plan.shift(), tally).run(),
  );
  const ended = await Promise.allSettled(run);
  console.info(
    [
      ...tally.log,
      `seed ${seed}: ${tally.struck} kills of ${tally.log.length} runs, ${tally.stacks} stacks, ` +
        `${tally.pending} pending operations left in the state, ${Math.round((Date.now() - began) / 1000)} s`,
      `from the service's answer to the journal: ${spread(tally.widths.map(({ journalMs }) => journalMs))}`,
      `from the service's answer to the state: ${spread(tally.widths.map(({ stateMs }) => stateMs))}`,
    ].join("\n"),
  );
  for (const end of ended) if (end.status === "rejected") throw end.reason;
  expect(tally.struck).toBeGreaterThanOrEqual(kills);
}, 7_200_000);
