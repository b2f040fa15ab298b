import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routes } from "../../contract";
import type { JournalEntry } from "../../provider/recovery/journal";
import { lostCallOf } from "../../provider/recovery/unknown-creation";
import type { ObservedService } from "../engine/observed-service";
import { Account, failuresIn, type Made, type Message, servingIn } from "./account";
import { type BindingChoice, onlyDynamic } from "./binding-choice";
import type { BindingName, Bindings } from "./bindings";
import { faultOf, type Harm } from "./harm";
import { type Meddling, meddle, undone } from "./meddling";
import { declared, first, type Program } from "./program";
import type { FaultProxy } from "./proxy";
import { Reasons } from "./reasons";
import { madeAnewByNames } from "./renames";
import { type Held, type Kind, keyOf, newStack } from "./rows";
import type { RunOptions } from "./selection";
import { Killed, SmallEngine } from "./small-engine";
import { verify } from "./verdict";

interface Options {
  /** Whether each step of the engine is a reason to create an object. */
  readonly anyStep?: boolean;
  readonly bindingChoice?: BindingChoice;
}

/** A stack with its program, and a simulated user who does what the messages say. */
export class World {
  readonly engine: SmallEngine;
  /** Ids that the user has set as `existingId`. */
  existing: Record<string, string> = {};
  /** Jobs that the user knows and has submitted again. */
  readonly askedAgain = new Set<string>();
  /** Objects of the entries that the user has removed from the state. */
  readonly forgotten = new Set<unknown>();
  readonly reasons: Reasons;
  readonly account: Account;
  readonly #bindings: readonly BindingName[];
  #runs = 0;
  readonly #loaded = new Set<string>();
  /** Whether the service may differ from the state, so the user runs a refresh. */
  #drifted = false;
  /** Whether a run was killed during a deletion, so an object in the state may be deleted. */
  #brokeOffDeleting = false;
  #heard = 0;
  readonly #firstDirectory = process.env.XDG_STATE_HOME ?? "";
  /** Directories of further machines. */
  readonly #directories: string[] = [];

  constructor(
    readonly observed: ObservedService,
    private readonly proxy: FaultProxy,
    bindings: Bindings,
    /** Messages of the lifecycles to the user. */
    readonly messages: readonly Message[],
    { anyStep = false, bindingChoice = onlyDynamic }: Options = {},
  ) {
    this.engine = new SmallEngine(newStack(), { url: proxy.url, key: observed.service.key }, bindings);
    this.engine.isTypeScript = bindingChoice.isTypeScript;
    this.#bindings = bindingChoice.bindings;
    this.reasons = new Reasons(anyStep ? this.engine.steps : undefined);
    this.reasons.toMakeAll(first);
    this.account = new Account(this.engine.stack, proxy, messages);
    this.engine.onMade = async ({ kind, state }) => {
      if (kind !== "Project") return;
      const {
        userDatasetId: users,
        itemDatasetId: items,
        eventDatasetId: events,
      } = state as Record<string, string>;
      if (this.#loaded.has(events)) return;
      await observed.load({ users, items, events }, { users: 8, items: 8, each: 3 });
      this.#loaded.add(events);
    };
  }

  /** Runs `pulumi up` with options that select resources. */
  upWith(program: Program, options: RunOptions, harm: Harm = none): Promise<Error[]> {
    return this.#run(harm, () => this.engine.up(declared(program, this.existing), options));
  }

  /** Runs `pulumi up`. With a kind, it replaces the resources of that kind. */
  up(program: Program, harm: Harm, replaced?: Kind): Promise<Error[]> {
    const resources = declared(program, this.existing);
    const replace = resources.filter(({ kind }) => kind === replaced).map(keyOf);
    if (replaced && replace.length > 0) this.reasons.toMake(replaced, replace.length);
    return this.#run(harm, () => this.engine.up(resources, { replace }));
  }

  /** Runs `pulumi destroy`. */
  down(harm: Harm, options: RunOptions = {}): Promise<Error[]> {
    const before = [...this.engine.held];
    const begun = this.#begun().map(({ urn }) => kindOf(urn));
    return this.#run(harm, () => this.engine.up([], options)).finally(() =>
      this.reasons.toMakeAgain(this.#leftOf(before), begun),
    );
  }

  /** Kinds of the objects that are no longer in the state. */
  #leftOf(before: readonly [string, Held][]): Kind[] {
    return before.flatMap(([key, { kind }]) => (this.engine.held.has(key) ? [] : kind));
  }

  /** Renames resources. */
  rename(before: Program, after: Program): void {
    const begun = this.#begun();
    const anew = madeAnewByNames(before, after, {
      isHeld: (kind, name) => this.engine.held.has(`${kind} ${name}`),
      begun: (kind, name) => begun.filter(({ urn }) => urn === this.engine.urnOf({ kind, name })).length,
    });
    for (const kind of anew) this.reasons.toMake(kind);
  }

  /** Creates that began and are not in the state. */
  #begun(): JournalEntry[] {
    return this.account.journal().filter((entry) => !this.#isInState(entry));
  }

  #isInState({ id, key }: JournalEntry): boolean {
    const state = JSON.stringify([...this.engine.held.values()]);
    return this.engine.everHeld.has(id) || state.includes(key);
  }

  async #run(harm: Harm, work: () => Promise<Error[]>): Promise<Error[]> {
    this.engine.binding = this.#bindings[this.#runs++ % this.#bindings.length] as BindingName;
    const fault = faultOf(harm, (call) => this.#kill(call));
    if (fault) this.proxy.on("*", fault, { nth: harm.at });
    if (harm.how === "failTraining") {
      this.reasons.toMake("TrainingJob");
      await this.observed.faults({ jobs: [{ job_type: "TRAINING", times: 4, message: "bad luck" }] });
    }
    try {
      return await work();
    } catch (error) {
      if (error instanceof Killed) return [];
      throw error;
    } finally {
      this.proxy.heal();
      await this.proxy.quiet();
      if (harm.how === "failTraining") await this.observed.faults({});
      this.account.journal();
      await this.#holdToWord();
    }
  }

  /** Checks messages that report a live deployment. */
  async #holdToWord(): Promise<void> {
    const news = this.messages.slice(this.#heard);
    this.#heard = this.messages.length;
    for (const { message } of news) {
      const [, projectId] = /project (\S+) (?:still serves|will serve)/.exec(message) ?? [];
      if (!projectId) continue;
      await this.observed.service.idle();
      // The deployment becomes live only if its job succeeds, and the same run may delete the model before.
      const failures = failuresIn(this.observed.service.dataDir);
      const isUndone = ({ jobId, result }: (typeof failures)[number]) =>
        message.includes(jobId) && message.includes("will serve") && result.includes("was deleted before");
      if (failures.some(isUndone)) continue;
      expect(servingIn(this.observed.service.dataDir)).toContainEqual(expect.objectContaining({ projectId }));
    }
  }

  /** The user removes entries from the state and knows their objects. */
  forget(rows: readonly Held[]): void {
    for (const { id, state } of rows)
      for (const value of [id, ...Object.values(state)]) this.forgotten.add(value);
  }

  /** Replaces the state with an older one. */
  drift(): void {
    this.#drifted = true;
  }

  /** Loses the machine with its journals. The state is in the backend. */
  changeMachine(): void {
    for (const urn of this.account.loseMachine((entry) => this.#isInState(entry)))
      this.reasons.toMake(kindOf(urn));
    const directory = mkdtempSync(join(tmpdir(), "recommender-state-"));
    this.#directories.push(directory);
    process.env.XDG_STATE_HOME = directory;
  }

  async close(): Promise<void> {
    await this.engine.close();
    process.env.XDG_STATE_HOME = this.#firstDirectory;
    for (const directory of this.#directories) rmSync(directory, { recursive: true });
  }

  /** Applies the program completely, as a user would, and checks the service. */
  async recover(wanted: Program): Promise<Program> {
    let program = wanted;
    for (let tries = 0; ; tries++) {
      await this.#look();
      const errors = await this.up(program, none);
      delete process.env.RECOMMENDER_CREATE_AGAIN;
      delete process.env.RECOMMENDER_ADOPT;
      if (errors.length === 0) break;
      if (tries === 8) throw new Error(`no recovery: ${errors[0].message}`);
      for (const error of errors) await this.#heed(error);
      const isGone = errors.some(({ message }) =>
        message.includes(`existingId ${program.twin}: there is no such`),
      );
      if (isGone) program = { ...program, twin: undefined };
    }
    this.existing = {};
    const before = this.proxy.came.length;
    expect(await this.up(program, none)).toEqual([]);
    expect(this.proxy.came.slice(before).filter((call) => !/^GET|token/.test(call))).toEqual([]);
    await verify(this, program);
    return program;
  }

  /** Refreshes the state if it may differ from the service. */
  async #look(): Promise<void> {
    const before = [...this.engine.held];
    if (this.#drifted || this.#brokeOffDeleting) await this.engine.refresh();
    if (this.#brokeOffDeleting) for (const kind of this.#leftOf(before)) this.reasons.toMake(kind);
    this.#drifted = this.#brokeOffDeleting = false;
  }

  /** Destroys everything, as a user would. Only objects that the API cannot delete stay, and they were reported. */
  async destroy(): Promise<void> {
    for (let tries = 0; ; tries++) {
      const errors = await this.down(none);
      if (errors.length === 0) break;
      if (tries === 2) throw errors[0];
      for (const error of errors) await this.#heed(error);
    }
    expect([...this.engine.held.keys()]).toEqual([]);
    await verify(this);
  }

  /** Changes the service outside the program. */
  async meddle(what: Meddling): Promise<void> {
    this.#drifted = true;
    if (undone[what]) this.reasons.toMake(undone[what]);
    await meddle(what, [...this.engine.held.values()], this.observed.client);
  }

  #kill(call: string): void {
    // The engine reports that the resource was "interrupted while deleting" and asks the user to check.
    if (call.startsWith("DELETE")) this.#brokeOffDeleting = true;
    this.engine.kill();
  }

  /** Returns the model of a training job. */
  async modelOf({ id: jobId, projectId }: Pick<Made, "id" | "projectId">): Promise<string | undefined> {
    const { jobResult } = await this.observed.call(routes.getJob, { projectId, jobId });
    return jobResult?.modelId ?? undefined;
  }

  /** Follows the instructions in a message. */
  async #heed({ message }: Error): Promise<void> {
    const [, projectId] = /`recommender shutdown --project ([^\s`]+)`/.exec(message) ?? [];
    if (projectId) {
      await this.observed.call(routes.shutdownDeployment, { projectId });
      this.#drifted = true;
      this.reasons.toMake("DeploymentJob");
    }
    if (!message.includes("RECOMMENDER_CREATE_AGAIN")) return;
    const [, title, call] = /^(\S+ \S+): The outcome of (POST \S+)/.exec(message) as unknown as string[];
    // The state names the call without a response. If it still has the object to replace, only the journal names it.
    const key =
      lostCallOf(this.engine.held.get(title)?.id)?.key ?? this.account.lastWithoutAnswer(title, call);
    const lost = this.account
      .made(call)
      .filter((made) => made.key === key && !this.isKnown(made) && !this.account.wentWithMachine(made));
    const [job] = call.startsWith("POST /submit") ? lost : [];
    await this.observed.service.idle();
    // A failed training has no model.
    const named = job && call === "POST /submit-training-job" ? await this.modelOf(job) : job?.id;
    if (named) {
      process.env.RECOMMENDER_ADOPT = `${title.split(" ")[1]}=${named}`;
      return;
    }
    if (call.startsWith("POST /create") && lost.length > 0) {
      this.existing[title] = lost[0].id;
      return;
    }
    for (const { id } of lost) this.askedAgain.add(id);
    for (const _ of lost) this.reasons.toMake(title.split(" ")[0] as Kind);
    process.env.RECOMMENDER_CREATE_AGAIN = "1";
  }

  /** Whether the id was ever in the state, is in a journal, or was named in a message. */
  isKnown({ id }: Made): boolean {
    return this.engine.everHeld.has(id) || this.askedAgain.has(id) || this.account.isNamed(id);
  }
}

const none: Harm = { how: "nothing", at: 1 };

function kindOf(urn: string): Kind {
  return /recommender:(\w+)::/.exec(urn)?.[1] as Kind;
}
