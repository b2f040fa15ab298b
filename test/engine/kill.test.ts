import fc from "fast-check";
import { FaultProxy } from "../faults/proxy";
import { heldAt, KilledStack, killedProgram, type Stage, stages } from "./killed-stack";
import { type Binding, type Ended, type Kill, KillingGround, type Moment } from "./killing";
import { ObservedService } from "./observed-service";
import { spread, type Width } from "./window";
import { installPlugin } from "./workspace";

const atLength = process.env.KILLS !== undefined;
const kills = Number(process.env.KILLS ?? 8);
const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000_000);
/** Number of stacks that are tested concurrently. */
const lanes = 2;

const means = (["SIGKILL", "SIGINT", "SIGTERM"] as const).flatMap((signal) =>
  (["provider", "engine"] as const).map((target) => ({ signal, target })),
);
const moments = fc.noBias(
  fc.record({
    /** Position of the kill among the remaining calls, in thousandths. */
    place: fc.nat({ max: 999 }),
    phase: fc.constantFrom("sent" as const, "taken" as const, "answered" as const, "any" as const),
    ms: fc.nat({ max: 40 }),
    anyMs: fc.nat({ max: 4000 }),
    /** Whether the next run is killed too. */
    again: fc.boolean(),
  }),
);

/** Planned kill. Its exact call depends on the progress of the stack. */
interface Drawn extends Pick<Kill, "signal" | "target"> {
  readonly place: number;
  readonly phase: "sent" | "taken" | "answered" | "any";
  readonly ms: number;
  readonly anyMs: number;
  readonly again: boolean;
}

/** Plans equally many kills of each signal and target, plus spare ones for kills that come after the end of a run. */
const plan: Drawn[] = fc
  .sample(moments, { seed, numRuns: kills * 4 })
  .map((drawn, at) => ({ ...(means[(at + Math.floor(at / 6)) % 6] as (typeof means)[number]), ...drawn }));

/** Order of bindings in a lane. Each binding follows itself and the other one. */
const turns: readonly Binding[] = ["dynamic", "plugin", "plugin", "dynamic"];

function momentOf({ place, phase, ms, anyMs }: Drawn, stage: Stage, remaining: number): Moment {
  // A destroy does not wait for jobs, so it is short.
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

/** Totals of all lanes. */
const tally = {
  struck: 0,
  ofDestroys: 0,
  /** Kills by the binding of the killed run. */
  killed: { dynamic: 0, plugin: 0 },
  /** Recoveries by a binding after a kill of the other binding. */
  recovered: { dynamic: 0, plugin: 0 },
  runs: 0,
  stacks: 0,
  pending: 0,
  mended: 0,
  failed: false,
};
const widths: Width[] = [];

/** Whether all kills have happened, and each binding was killed and has recovered a run of the other. */
const isEnough = () =>
  tally.struck >= kills &&
  [tally.killed, tally.recovered].every(({ dynamic, plugin }) => dynamic > 0 && plugin > 0);

/** Creates, changes and destroys stacks one after the other with kills, until there are enough kills. */
async function lane(at: number): Promise<void> {
  const proxy = await FaultProxy.start(observed.service);
  let turn = 2 * at;
  const nextBinding = () => turns[turn++ % turns.length] as Binding;
  try {
    for (let number = 0; !isEnough() && plan.length > 0 && !tally.failed; number++) {
      const name = `lane${at}n${number}`;
      const stack = new KilledStack(name, ground, proxy, observed.service.dataDir, nextBinding);
      await stack.init();
      const { name: of } = stack;
      for (const stage of stages) {
        await killOnTheWay(stack, stage);
        const { code, output } = await bring(stack, stage);
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
      tally.stacks++;
    }
  } catch (error) {
    tally.failed = true;
    throw error;
  } finally {
    await proxy.close();
  }
}

/** Brings a stack to a stage, and counts recoveries of a killed run by the other binding. */
async function bring(stack: KilledStack, stage: Stage, kill?: Kill): Promise<Ended> {
  const { binding: former, wasStruck } = stack;
  const ended = await stack.bring(stage, kill);
  if (wasStruck && former !== stack.binding) tally.recovered[stack.binding as Binding]++;
  return ended;
}

async function killOnTheWay(stack: KilledStack, stage: Stage): Promise<void> {
  for (let again = true; again && !isEnough(); ) {
    const drawn = plan.shift();
    if (!drawn) return;
    const { signal, target } = drawn;
    const moment = momentOf(drawn, stage, stack.remaining(stage));
    const { code, struck } = await bring(stack, stage, { signal, target, moment });
    tally.runs++;
    if (struck) tally.struck++;
    if (struck && stage === "destroyed") tally.ofDestroys++;
    if (struck) tally.killed[stack.binding as Binding]++;
    again = drawn.again && code !== 0;
    const when = `${signal} to the ${target} at ${JSON.stringify(moment)}`;
    const line = `${stack.name} ${stage} by ${stack.binding}: ${when}: ${struck ? "struck" : "too late"}, exit code ${code}\n`;
    if (atLength) process.stderr.write(line);
  }
}

test(`after each of ${kills} kills the next run continues with either binding: nothing is created twice and nothing is lost`, async () => {
  const began = Date.now();
  const ended = await Promise.allSettled(Array.from({ length: lanes }, (_, at) => lane(at)));
  const seconds = Math.round((Date.now() - began) / 1000);
  console.info(
    [
      `seed ${seed}: ${tally.struck} kills, ${tally.ofDestroys} of them of a destroy, ${tally.killed.plugin} of a run ` +
        `with the plugin, in ${tally.runs} runs of ${tally.stacks} stacks, ${seconds} s; after ` +
        `${tally.recovered.plugin} the plugin recovered what a dynamic provider had left, after ` +
        `${tally.recovered.dynamic} the reverse; ` +
        `the state held ${tally.pending} pending operations, the engine's own files were mended ${tally.mended} times`,
      `from the service's answer to the journal: ${spread(widths.map(({ journalMs }) => journalMs))}`,
      `from the service's answer to the state: ${spread(widths.map(({ stateMs }) => stateMs))}`,
    ].join("\n"),
  );
  for (const end of ended) if (end.status === "rejected") throw end.reason;
  const { struck, killed, recovered } = tally;
  expect({ struck, killed, recovered, isEnough: isEnough() }).toMatchObject({ isEnough: true });
}, 7_200_000);
