import { ObservedService } from "../engine/observed-service";
import { TestDirectory } from "../records/test-directory";
import { Bindings } from "./bindings";
import { FaultProxy } from "./proxy";
import { LocalStack } from "./runs";
import { makeWorld, type Scene, scenes, type World } from "./scenes";

/** A service behind a proxy with faults, a stack that uses it, and the scenes of all calls. */
export class Stage {
  private constructor(
    readonly observed: ObservedService,
    readonly proxy: FaultProxy,
    readonly stack: LocalStack,
    readonly world: World,
    readonly all: readonly Scene[],
    /** Messages of the provider, oldest first. */
    readonly messages: string[],
    private readonly bindings: Bindings,
    private readonly directory: TestDirectory,
  ) {}

  static async start(): Promise<Stage> {
    const messages: string[] = [];
    const [directory, bindings] = [new TestDirectory(), new Bindings((_, message) => messages.push(message))];
    const observed = await ObservedService.start({ planShards: 100_000 });
    const proxy = await FaultProxy.start(observed.service);
    const { url } = proxy;
    const addresses = { "recommender:baseUrl": url, "recommender:tokenUrl": `${url}/oauth/token` };
    const stack = new LocalStack({ ...observed.config, ...addresses }, bindings);
    const world = await makeWorld(observed);
    const all = scenes(observed, stack, world, directory);
    return new Stage(observed, proxy, stack, world, all, messages, bindings, directory);
  }

  async close(): Promise<void> {
    await this.stack.close();
    this.bindings.close();
    await this.proxy.close();
    await this.observed.close();
    this.directory.remove();
  }
}

/** Returns the error message of a step, or that it succeeded. */
export function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "it succeeded",
    (error: Error) => error.message,
  );
}
