import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routes } from "../../contract";
import type { JournalEntry } from "../../provider/recovery/journal";
import { lostCallOf } from "../../provider/recovery/unknown-creation";
import type { ObservedService } from "../engine/observed-service";
import { Account, failuresIn, type Made, type Said, servingIn } from "./account";
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
  /** Whether any step of the engine is a reason to make something. */
  readonly anyStep?: boolean;
  readonly bindingChoice?: BindingChoice;
}

/** One stack, its program, and a user who does what the messages say. */
export class World {
  readonly engine: SmallEngine;
  /** Ids that the user has told the program. */
  existing: Record<string, string> = {};
  /** Jobs that the user knows of and had submitted once more. */
  readonly askedAgain = new Set<string>();
  /** What rows held that the user has taken out of the state. */
  readonly forgotten = new Set<unknown>();
  readonly reasons: Reasons;
  readonly account: Account;
  readonly #bindings: readonly BindingName[];
  #runs = 0;
  readonly #loaded = new Set<string>();
  /** Whether the service may be other than the state says, so that a user looks. */
  #drifted = false;
  /** Whether a run was killed at a call that deletes, so that what is held may be gone. */
  #brokeOffDeleting = false;
  #heard = 0;
  readonly #firstDirectory = process.env.XDG_STATE_HOME ?? "";
  /** Directories of further machines. */
  readonly #directories: string[] = [];

  constructor(
    readonly observed: ObservedService,
    private readonly proxy: FaultProxy,
    bindings: Bindings,
    /** What the lifecycles have told the user. */
    readonly said: readonly Said[],
    { anyStep = false, bindingChoice = onlyDynamic }: Options = {},
  ) {
    this.engine = new SmallEngine(newStack(), { url: proxy.url, key: observed.service.key }, bindings);
    this.engine.isTypeScript = bindingChoice.isTypeScript;
    this.#bindings = bindingChoice.bindings;
    this.reasons = new Reasons(anyStep ? this.engine.steps : undefined);
    this.reasons.toMakeAll(first);
    this.account = new Account(this.engine.stack, proxy, said);
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

  /** Runs `pulumi up` with options that say what it is about. */
  upWith(program: Program, options: RunOptions, harm: Harm = none): Promise<Error[]> {
    return this.#run(harm, () => this.engine.up(declared(program, this.existing), options));
  }

  /** Runs `pulumi up`; with a kind, as if it were told to replace the resources of that kind. */
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

  /** Kinds of what was held and is not any more. */
  #leftOf(before: readonly [string, Held][]): Kind[] {
    return before.flatMap(([key, { kind }]) => (this.engine.held.has(key) ? [] : kind));
  }

  /** Resources have other names from now on. */
  rename(before: Program, after: Program): void {
    const begun = this.#begun();
    const anew = madeAnewByNames(before, after, {
      isHeld: (kind, name) => this.engine.held.has(`${kind} ${name}`),
      begun: (kind, name) => begun.filter(({ urn }) => urn === this.engine.urnOf({ kind, name })).length,
    });
    for (const kind of anew) this.reasons.toMake(kind);
  }

  /** What was begun and did not come into the state. */
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

  /** If a message reports that a project still serves, or will serve, that must be true. */
  async #holdToWord(): Promise<void> {
    const news = this.said.slice(this.#heard);
    this.#heard = this.said.length;
    for (const { message } of news) {
      const [, projectId] = /project (\S+) (?:still serves|will serve)/.exec(message) ?? [];
      if (!projectId) continue;
      await this.observed.service.idle();
      // It will only once its job succeeds, and the same run may delete the model that the job is about to deploy.
      const failures = failuresIn(this.observed.service.dataDir);
      const isUndone = ({ jobId, result }: (typeof failures)[number]) =>
        message.includes(jobId) && message.includes("will serve") && result.includes("was deleted before");
      if (failures.some(isUndone)) continue;
      expect(servingIn(this.observed.service.dataDir)).toContainEqual(expect.objectContaining({ projectId }));
    }
  }

  /** The user takes rows out of the state, and knows of what they held. */
  forget(rows: readonly Held[]): void {
    for (const { id, state } of rows)
      for (const value of [id, ...Object.values(state)]) this.forgotten.add(value);
  }

  /** The state may be of another time than the service. */
  drift(): void {
    this.#drifted = true;
  }

  /** The machine is thrown away, with what was written down on it; the state is kept elsewhere. */
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

  /** Brings everything to what is declared, as a user would, and holds the service against it. */
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

  /** Has what is held compared with what is there, where they may differ. */
  async #look(): Promise<void> {
    const before = [...this.engine.held];
    if (this.#drifted || this.#brokeOffDeleting) await this.engine.refresh();
    if (this.#brokeOffDeleting) for (const kind of this.#leftOf(before)) this.reasons.toMake(kind);
    this.#drifted = this.#brokeOffDeleting = false;
  }

  /** Takes everything away, as a user would: nothing stays but what the API cannot delete, and that was said. */
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

  /** Does something outside the program. */
  async meddle(what: Meddling): Promise<void> {
    this.#drifted = true;
    if (undone[what]) this.reasons.toMake(undone[what]);
    await meddle(what, [...this.engine.held.values()], this.observed.client);
  }

  #kill(call: string): void {
    // The engine says of it that it was "interrupted while deleting", and to look.
    if (call.startsWith("DELETE")) this.#brokeOffDeleting = true;
    this.engine.kill();
  }

  /** The model that a training job has made. */
  async modelOf({ id: jobId, projectId }: Pick<Made, "id" | "projectId">): Promise<string | undefined> {
    const { jobResult } = await this.observed.call(routes.getJob, { projectId, jobId });
    return jobResult?.modelId ?? undefined;
  }

  /** Does what a message asks for. */
  async #heed({ message }: Error): Promise<void> {
    const [, projectId] = /`recommender shutdown --project ([^\s`]+)`/.exec(message) ?? [];
    if (projectId) {
      await this.observed.call(routes.shutdownDeployment, { projectId });
      this.#drifted = true;
      this.reasons.toMake("DeploymentJob");
    }
    if (!message.includes("RECOMMENDER_CREATE_AGAIN")) return;
    const [, title, call] = /^(\S+ \S+): The outcome of (POST \S+)/.exec(message) as unknown as string[];
    // The state tells which call has no answer; where it keeps what is to be replaced, the journal does.
    const key =
      lostCallOf(this.engine.held.get(title)?.id)?.key ?? this.account.lastWithoutAnswer(title, call);
    const lost = this.account
      .made(call)
      .filter((made) => made.key === key && !this.isKnown(made) && !this.account.wentWithMachine(made));
    const [job] = call.startsWith("POST /submit") ? lost : [];
    await this.observed.service.idle();
    // A training that failed never shows a model.
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

  /** Whether it ever stood in the state, is written down, or was named to the user. */
  isKnown({ id }: Made): boolean {
    return this.engine.everHeld.has(id) || this.askedAgain.has(id) || this.account.isNamed(id);
  }
}

const none: Harm = { how: "nothing", at: 1 };

function kindOf(urn: string): Kind {
  return /recommender:(\w+)::/.exec(urn)?.[1] as Kind;
}
