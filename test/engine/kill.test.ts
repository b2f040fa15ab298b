import fc from "fast-check";
import { FaultProxy } from "../faults/proxy";
import { heldAt, KilledStack, killedProgram, type Stage, stages } from "./killed-stack";
import { type Carrier, type Kill, KillingGround, type Moment } from "./killing";
import { ObservedService } from "./observed-service";
import { spread, type Width } from "./window";
import { installPlugin } from "./workspace";

const atLength = process.env.KILLS !== undefined;
const kills = Number(process.env.KILLS ?? (process.env.RECOMMENDER_TESTS === "short" ? 4 : 8));
const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000_000);
/** Stacks that are killed side by side. */
const lanes = 2;

const means = (["SIGKILL", "SIGINT", "SIGTERM"] as const).flatMap((signal) =>
  (["provider", "engine"] as const).map((target) => ({ signal, target })),
);
const moments = fc.noBias(
  fc.record({
    /** Where among the calls that are still to come, in thousandths. */
    place: fc.nat({ max: 999 }),
    phase: fc.constantFrom("sent" as const, "taken" as const, "answered" as const, "any" as const),
    ms: fc.nat({ max: 40 }),
    anyMs: fc.nat({ max: 4000 }),
    /** Whether the run after it is killed too. */
    again: fc.boolean(),
  }),
);

/** A kill whose place is not yet known: that depends on how far the stack has come. */
interface Drawn extends Pick<Kill, "signal" | "target"> {
  readonly place: number;
  readonly phase: "sent" | "taken" | "answered" | "any";
  readonly ms: number;
  readonly anyMs: number;
  readonly again: boolean;
}

/** As many of each signal and target; some strike too late, when the run is over, and others take their place. */
const plan: Drawn[] = fc
  .sample(moments, { seed, numRuns: kills * 4 })
  .map((drawn, at) => ({ ...(means[(at + Math.floor(at / 6)) % 6] as (typeof means)[number]), ...drawn }));

/** What carries the next run, whatever carried the one before it. */
const drawCarrier = (() => {
  const drawn = fc.sample(fc.constantFrom<Carrier>("dynamic", "plugin"), { seed, numRuns: kills * 10 });
  return () => drawn.pop() as Carrier;
})();

function momentOf({ place, phase, ms, anyMs }: Drawn, stage: Stage, remaining: number): Moment {
  // Nothing is waited for by what takes a stack away, so that it is soon over.
  if (phase === "any") return { ms: stage === "destroyed" ? anyMs >> 3 : anyMs };
  const at = 1 + Math.floor((place * remaining) / 1000);
  return phase === "answered" ? { at, phase, ms } : { at, phase };
}

let observed: ObservedService;
let ground: KillingGround;
beforeAll(async () => {
  observed = await ObservedService.start({ jobDelayMs: 300, planShards: 100_000 });
  ground = await KillingGround.make(killedProgram, observed.environment);
  await installPlugin(ground.directory);
});
afterAll(async () => {
  await ground.dispose();
  await observed.close();
});

/** What all lanes together have done. */
const tally = {
  struck: 0,
  ofDestroys: 0,
  ofPlugin: 0,
  crossings: 0,
  runs: 0,
  stacks: 0,
  pending: 0,
  mended: 0,
  failed: false,
};
const widths: Width[] = [];

/** Kills stacks one after the other, while each is made, changed and taken away, until the kills are used up. */
async function lane(name: string): Promise<void> {
  const proxy = await FaultProxy.start(observed.service);
  try {
    for (let number = 0; tally.struck < kills && plan.length > 0 && !tally.failed; number++) {
      const stack = new KilledStack(`${name}${number}`, ground, proxy, observed.service.dataDir, drawCarrier);
      await stack.init();
      const { name: of } = stack;
      for (const stage of stages) {
        await killOnTheWay(stack, stage);
        const { code, output } = await stack.bring(stage);
        const ended = { of, stage, code, output: code ? output : "" };
        expect(ended).toEqual({ of, stage, code: 0, output: "" });
        expect({ of, stage, held: stack.held() }).toEqual({ of, stage, held: heldAt(stage) });
        if (stage !== "version 2") continue;
        const further = await stack.preview(stage);
        expect({ of, code: further.code, output: further.output }).toMatchObject({ code: 0 });
      }
      expect({ of, resources: stack.resources() }).toEqual({ of, resources: [] });
      widths.push(...stack.widths);
      tally.pending += stack.pendingSeen;
      tally.mended += stack.mended;
      tally.crossings += stack.crossings;
      tally.stacks++;
    }
  } catch (error) {
    tally.failed = true;
    throw error;
  } finally {
    await proxy.close();
  }
}

async function killOnTheWay(stack: KilledStack, stage: Stage): Promise<void> {
  for (let again = true; again && tally.struck < kills; ) {
    const drawn = plan.shift();
    if (!drawn) return;
    const { signal, target } = drawn;
    const moment = momentOf(drawn, stage, stack.remaining(stage));
    const { code, struck } = await stack.bring(stage, { signal, target, moment });
    tally.runs++;
    if (struck) tally.struck++;
    if (struck && stage === "destroyed") tally.ofDestroys++;
    if (struck && stack.carrier === "plugin") tally.ofPlugin++;
    again = drawn.again && code !== 0;
    const when = `${signal} to the ${target} at ${JSON.stringify(moment)}`;
    const line = `${stack.name} ${stage} by ${stack.carrier}: ${when}: ${struck ? "struck" : "too late"}, exit code ${code}\n`;
    if (atLength) process.stderr.write(line);
  }
}

test(`after each of ${kills} kills the next run carries on, whatever carries it: nothing is made twice, nothing is lost`, async () => {
  const began = Date.now();
  const ended = await Promise.allSettled(Array.from({ length: lanes }, (_, at) => lane(`lane${at}n`)));
  const seconds = Math.round((Date.now() - began) / 1000);
  console.info(
    [
      `seed ${seed}: ${tally.struck} kills, ${tally.ofDestroys} of them of a destroy, ${tally.ofPlugin} of a run ` +
        `with the plugin, in ${tally.runs} runs of ${tally.stacks} stacks that changed their carrier ` +
        `${tally.crossings} times, ${seconds} s; ` +
        `the state held ${tally.pending} pending operations, the engine's own files were mended ${tally.mended} times`,
      `from the service's answer to the journal: ${spread(widths.map(({ journalMs }) => journalMs))}`,
      `from the service's answer to the state: ${spread(widths.map(({ stateMs }) => stateMs))}`,
    ].join("\n"),
  );
  for (const end of ended) if (end.status === "rejected") throw end.reason;
  expect(tally.struck).toBeGreaterThanOrEqual(kills);
  // Of few kills it may be that none met the plugin.
  if (kills < 50) return;
  expect(tally.ofPlugin).toBeGreaterThan(0);
  expect(tally.crossings).toBeGreaterThan(0);
}, 7_200_000);
