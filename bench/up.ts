import { startService } from "../service";
import { goal, report } from "./report/report";
import { BenchStack, type Program, type Ran } from "./up/stack";
import { type ImportMs, importMs, pluginStartMs } from "./up/start-cost";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const sizes = [10, 100, 1000].map((size) => Math.ceil(size * scale));
const largest = sizes.at(-1) as number;
const bindings = ["dynamic", "plugin"] as const;

/** The number of alternating rounds at the largest size. The fastest counts, because other work on the machine only adds time. */
const rounds = 3;

/** Serialized closures add 12 kB of state each. A thousand of them would take longer than the rest of the benchmark. */
const programsAt = (size: number): readonly Program[] =>
  size < largest ? [...bindings, "no-op", "serialised"] : [...bindings, "no-op"];

const stepNames = ["create", "noChange", "refresh", "changeOfOne", "destroy"] as const;

/** A command, and the requests to the service during it. */
interface Step extends Ran {
  readonly calls: number;
}

/** Runs one program with one number of resources, from create to destroy. */
interface Life extends Readonly<Record<(typeof stepNames)[number], Step>> {
  readonly program: Program;
  readonly size: number;
  readonly stateBytesPerResource: number;
}

async function main(): Promise<void> {
  let calls = 0;
  const write = (line: string) => {
    const { msg, path } = JSON.parse(line);
    if (msg === "call" && path !== "/oauth/token") calls++;
  };
  const service = await startService({ log: { write }, planShards: 10 * largest });
  const environment = {
    RECOMMENDER_BASE_URL: service.url,
    RECOMMENDER_API_KEY: service.key,
    RECOMMENDER_TOKEN_URL: `${service.url}/oauth/token`,
    RECOMMENDER_CLIENT_ID: "bench",
    RECOMMENDER_CLIENT_SECRET: service.key,
  };
  const step = async (work: () => Promise<Ran>): Promise<Step> => {
    calls = 0;
    const ran = await work();
    return { ...ran, calls };
  };
  const lives: Life[] = [];
  const withoutCheckpoints: ({ size: number } & Ran)[] = [];
  try {
    for (const size of sizes) {
      for (const life of await live(size, environment, step)) {
        lives.push(life);
        show(life);
      }
      const ran = await createWithoutCheckpoints(size, environment);
      withoutCheckpoints.push({ size, ...ran });
      console.log(`${size} dynamic without checkpoints: create ${ran.seconds.toFixed(1)} s`);
    }
  } finally {
    await service.close();
  }
  conclude(lives, withoutCheckpoints, importMs(), await pluginStartMs());
}

const update = ["up", "--yes", "--skip-preview"];

const commandOf: Readonly<Record<(typeof stepNames)[number], readonly [string[], Record<string, string>?]>> =
  {
    create: [update],
    noChange: [update],
    refresh: [["refresh", "--yes", "--skip-preview"]],
    changeOfOne: [update, { BENCH_NAME: "changed" }],
    destroy: [["destroy", "--yes", "--skip-preview"]],
  };

/** Alternates between the programs at each step, because the speed of the machine changes within an hour. */
async function live(
  size: number,
  environment: Record<string, string>,
  step: (work: () => Promise<Ran>) => Promise<Step>,
): Promise<Life[]> {
  const of = { ...environment, BENCH_COUNT: String(size) };
  const stacks = new Map<Program, BenchStack>();
  const steps = new Map<Program, Partial<Life>>();
  try {
    for (const program of programsAt(size)) stacks.set(program, await BenchStack.create(program, of));
    const again = Array.from(
      { length: size === largest ? rounds - 1 : 0 },
      () => ["create", "destroy"] as const,
    );
    for (const name of [...again.flat(), ...stepNames]) {
      for (const [program, stack] of stacks) {
        const ran = await step(() => stack.run(...commandOf[name]));
        const before = steps.get(program);
        const former = before?.[name];
        const fastest = former && former.seconds < ran.seconds ? former : ran;
        const state = name === "create" && { stateBytesPerResource: Math.round(stack.stateBytes / size) };
        steps.set(program, { program, size, ...before, ...state, [name]: fastest });
        if (size === largest)
          console.log(
            `${size} ${program}: ${name} ${ran.seconds.toFixed(1)} s (CPU ${ran.cpuSeconds.toFixed(1)} s)`,
          );
      }
    }
    return [...steps.values()] as Life[];
  } finally {
    for (const stack of stacks.values()) stack.dispose();
  }
}

/** Measures the same without checkpoints: the engine writes its state only once. The difference is the cost of the state, which grows with N². */
async function createWithoutCheckpoints(size: number, environment: Record<string, string>): Promise<Ran> {
  const once = { PULUMI_EXPERIMENTAL: "true", PULUMI_SKIP_CHECKPOINTS: "true" };
  const stack = await BenchStack.create("dynamic", { ...environment, ...once, BENCH_COUNT: String(size) });
  try {
    const ran = await stack.run(update);
    await stack.run(["destroy", "--yes", "--skip-preview"]);
    return ran;
  } finally {
    stack.dispose();
  }
}

function show({ program, size, stateBytesPerResource, ...steps }: Life): void {
  const words = stepNames.map((name) => {
    const { seconds, cpuSeconds, calls } = steps[name];
    return `${name} ${seconds.toFixed(1)} s (CPU ${cpuSeconds.toFixed(1)} s), ${calls} calls`;
  });
  console.log(`${size} ${program}: ${stateBytesPerResource} B of state each; ${words.join("; ")}`);
}

/** Returns the ratio of two programs for each number of resources. */
function ratio(lives: readonly Life[], one: Program, other: Program): Record<string, unknown> {
  return Object.fromEntries(
    sizes
      .filter((size) => programsAt(size).includes(other))
      .map((size) => {
        const [ours, theirs] = [lifeOf(lives, one, size), lifeOf(lives, other, size)];
        const seconds = stepNames.map((name) => [name, ours[name].seconds / theirs[name].seconds]);
        const state = ours.stateBytesPerResource / theirs.stateBytesPerResource;
        const createCpu = ours.create.cpuSeconds / theirs.create.cpuSeconds;
        return [size, { state, ...Object.fromEntries(seconds), createCpu }];
      }),
  );
}

function lifeOf(lives: readonly Life[], program: Program, size: number): Life {
  return lives.find((life) => life.program === program && life.size === size) as Life;
}

function conclude(
  lives: readonly Life[],
  withoutCheckpoints: readonly ({ size: number } & Ran)[],
  importing: ImportMs,
  startMs: number,
): void {
  const ratios = Object.fromEntries(
    bindings.flatMap((binding) =>
      (["no-op", "serialised"] as const).map((other) => [
        `${binding} / ${other}`,
        ratio(lives, binding, other),
      ]),
    ),
  );
  const noOp = lifeOf(lives, "no-op", largest);
  const goalsOf = (binding: Program, bounds: { readonly state: number; readonly create: number }) => {
    const { create, noChange, refresh, stateBytesPerResource } = lifeOf(lives, binding, largest);
    const state = stateBytesPerResource / noOp.stateBytesPerResource;
    return [
      goal(`${binding}: state per resource / no-op's`, "≤", bounds.state, state),
      goal(
        `${binding}: create of ${largest} / no-op's`,
        "≤",
        bounds.create,
        create.seconds / noOp.create.seconds,
      ),
      goal(`${binding}: calls of an up that changes nothing`, "=", 0, noChange.calls),
      goal(`${binding}: calls of a refresh of ${largest}`, "=", 1, refresh.calls),
    ];
  };
  const goals = [
    ...goalsOf("dynamic", { state: 0.5, create: 1 }),
    ...goalsOf("plugin", { state: 0.3, create: 0.6 }),
    goal("plugin: start until the engine has its port (ms)", "<", 400, startMs),
    goal("importing the package / importing the SDK", "<", 0.3, importing.ours / importing.sdk),
  ];
  report("up", {
    ratios,
    goals,
    absolute: { importing, startMs, lives, withoutCheckpoints },
    shape: { sizes },
  });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
