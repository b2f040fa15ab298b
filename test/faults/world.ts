import { routes } from "../../contract";
import { allEntries } from "../../provider/creation-journal";
import type { ObservedService } from "../engine/observed-service";
import { resetAfter, resetBefore } from "./faults";
import { declared, type Program } from "./program";
import type { Fault, FaultProxy } from "./proxy";
import { Killed, type Kind, newStack, SmallEngine } from "./small-engine";

/** What is done to a run, at which of its calls. */
export type Harm = {
  readonly how: "nothing" | "killBefore" | "killAfter" | "loseRequest" | "loseReply" | "failTraining";
  readonly at: number;
};

/** What is done behind the program's back. */
export type Meddling = "deleteEvents" | "renameEvents" | "shutDown" | "deleteModel";

/** The reply's id of each call that makes something, in the form it has on the wire. */
const makes: Record<string, string> = {
  "POST /create-user-dataset": "user_dataset_id",
  "POST /create-item-dataset": "item_dataset_id",
  "POST /create-event-dataset": "event_dataset_id",
  "POST /create-project": "project_id",
  "POST /create-algorithm": "algorithm_id",
  "POST /submit-training-job": "job_id",
  "POST /submit-deployment-job": "job_id",
};

/** One stack, its program, and a user who does what the messages say. */
export class World {
  readonly engine: SmallEngine;
  /** Ids that the user has told the program. */
  existing: Record<string, string> = {};
  /** Jobs that the user knows of and had submitted once more. */
  readonly askedAgain = new Set<string>();
  readonly #loaded = new Set<string>();

  constructor(
    private readonly observed: ObservedService,
    private readonly proxy: FaultProxy,
    /** What the lifecycles have told the user. */
    private readonly said: readonly string[],
  ) {
    this.engine = new SmallEngine(newStack(), { url: proxy.url, key: observed.service.key });
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

  async up(program: Program, harm: Harm): Promise<Error[]> {
    const fault = this.#faultOf(harm);
    if (fault) this.proxy.on("*", fault, { nth: harm.at });
    if (harm.how === "failTraining") {
      await this.observed.faults({ jobs: [{ job_type: "TRAINING", times: 4, message: "bad luck" }] });
    }
    try {
      return await this.engine.up(declared(program, this.existing));
    } catch (error) {
      if (error instanceof Killed) return [];
      throw error;
    } finally {
      this.proxy.heal();
      await this.proxy.quiet();
      await this.observed.faults({});
    }
  }

  /** Brings everything to what is declared, as a user would, and holds the service against it. */
  async recover(program: Program): Promise<void> {
    const none: Harm = { how: "nothing", at: 1 };
    for (let tries = 0; ; tries++) {
      await this.engine.refresh();
      const errors = await this.up(program, none);
      delete process.env.RECOMMENDER_CREATE_AGAIN;
      if (errors.length === 0) break;
      if (tries === 8) throw new Error(`no recovery: ${errors[0].message}`);
      for (const error of errors) await this.#heed(error);
    }
    this.existing = {};
    const before = this.proxy.came.length;
    expect(await this.up(program, none)).toEqual([]);
    expect(this.proxy.came.slice(before).filter((call) => !/^GET|token/.test(call))).toEqual([]);
    await this.#verify();
  }

  /** Takes everything away, as a user would. */
  async destroy(): Promise<void> {
    for (let tries = 0; ; tries++) {
      const errors = await this.engine.up([]);
      if (errors.length === 0) return;
      if (tries === 2) throw errors[0];
      for (const error of errors) await this.#heed(error);
    }
  }

  /** Does something behind the program's back. */
  async meddle(what: Meddling): Promise<void> {
    const { client } = this.observed;
    const all = [...this.engine.held.values()];
    const at = (kind: string) => all.find((resource) => resource.kind === kind);
    const [events, project, model] = [at("EventDataset"), at("Project"), at("Model")];
    const quietly = (call: Promise<unknown>) => call.catch(() => undefined);
    if (what === "deleteEvents" && events)
      await quietly(client.call(routes.deleteEventDataset, { eventDatasetId: events.id }));
    if (what === "renameEvents" && events) {
      await quietly(
        client.call(routes.updateEventDataset, {
          eventDatasetId: events.id,
          name: "other",
          attributeSchema: null,
        }),
      );
    }
    if (what === "shutDown" && project)
      await quietly(client.call(routes.shutdownDeployment, { projectId: project.id }));
    if (what === "deleteModel" && model) {
      const projectId = model.state.projectId as string;
      await quietly(client.call(routes.shutdownDeployment, { projectId }));
      await quietly(client.call(routes.deleteModel, { projectId, modelId: model.id }));
    }
  }

  #faultOf({ how }: Harm): Fault | undefined {
    const kill =
      (after: boolean): Fault =>
      async ({ pass, response }) => {
        if (after) await pass();
        this.engine.kill();
        response.socket?.destroy();
      };
    return {
      nothing: undefined,
      failTraining: undefined,
      killBefore: kill(false),
      killAfter: kill(true),
      loseRequest: resetBefore,
      loseReply: resetAfter,
    }[how];
  }

  /** What the service has made for this stack, by call. */
  #made(): { call: string; id: string }[] {
    const made = this.proxy.taken.flatMap(({ call, status, answer }) =>
      makes[call] && status === 200 ? [`${call} ${JSON.parse(answer)[makes[call]]}`] : [],
    );
    return [...new Set(made)].map((text) => {
      const at = text.lastIndexOf(" ");
      return { call: text.slice(0, at), id: text.slice(at + 1) };
    });
  }

  /** What was made, but neither ever stood in the state, nor is written down, nor was named to the user. */
  #unaccounted(): { call: string; id: string }[] {
    const words = [...this.said, ...allEntries().map(({ id }) => id)].join("\n");
    return this.#made().filter(
      ({ id }) => !this.engine.everHeld.has(id) && !this.askedAgain.has(id) && !words.includes(id),
    );
  }

  /** The model that a training job has made. */
  async #modelOf(jobId: string): Promise<string | undefined> {
    const submission = this.proxy.taken.find(({ answer }) => answer.includes(jobId));
    const { project_id: projectId } = JSON.parse(submission?.body ?? "{}");
    const { jobResult } = await this.observed.call(routes.getJob, { projectId, jobId });
    return jobResult?.modelId ?? undefined;
  }

  /** Does what a message asks for. */
  async #heed({ message }: Error): Promise<void> {
    const [, projectId] = /is deployed in project ([^\s;]+)/.exec(message) ?? [];
    if (projectId) await this.observed.call(routes.shutdownDeployment, { projectId });
    if (!message.includes("RECOMMENDER_CREATE_AGAIN")) return;
    const [, title, call] = /^(\S+ \S+): The outcome of (POST \S+)/.exec(message) ?? [];
    const lost = this.#unaccounted().filter((made) => made.call === call);
    // A training that was taken shows by its model; one that failed never shows.
    if (call === "POST /submit-training-job" && lost.length > 0) {
      await this.observed.service.idle();
      // Where another job may have made the model, it is for the user to say which one is wanted: here a new one.
      if (!message.includes("May have come of it") && (await this.#modelOf(lost[0].id))) return;
    }
    if (call.startsWith("POST /create") && lost.length > 0) {
      this.existing[title] = lost[0].id;
      return;
    }
    for (const { id } of lost) this.askedAgain.add(id);
    process.env.RECOMMENDER_CREATE_AGAIN = "1";
  }

  /** How many things of a call the user was told of without their ids: they may have been made. */
  #toldOf(call: string): number {
    const path = call.split(" ")[1] as string;
    const own = allEntries().filter(({ urn }) => urn.includes(`:${this.engine.stack}::`));
    const begun = own.filter((entry) => entry.path === path && entry.id === undefined);
    const said = this.said.filter(
      (message) => message.includes(`may have made one`) && message.includes(path),
    );
    return begun.length + said.length;
  }

  /** The service holds what is declared, and everything else that was made is deleted or was named as left behind. */
  async #verify(): Promise<void> {
    const { client } = this.observed;
    const named = [...this.said, ...allEntries().map(({ id }) => `${id} is left behind`)];
    const isLeft = (id: string) => named.some((words) => words.includes(id) && words.includes("left behind"));
    const held = (kind: Kind) =>
      [...this.engine.held.values()].filter((one) => one.kind === kind).map(({ id }) => id);
    const made = (call: string) =>
      this.#made()
        .filter((one) => one.call === call)
        .map(({ id }) => id);
    /** Nothing but what is held is there, and what is named as left behind, or counted where no id is known. */
    const expectOnly = (kind: Kind, call: string, there: readonly string[]) => {
      const strays = there.filter((id) => !held(kind).includes(id) && !isLeft(id));
      expect({ kind, strays: strays.slice(this.#toldOf(call)) }).toEqual({ kind, strays: [] });
      expect(there).toEqual(expect.arrayContaining(held(kind)));
    };

    const ids = [...this.engine.held.values()].map(({ kind, id }) => `${kind} ${id}`);
    expect(ids).toEqual([...new Set(ids)]);
    for (const [kind, noun] of Object.entries(unseen)) {
      expectOnly(kind as Kind, `POST /create-${noun}`, made(`POST /create-${noun}`));
    }
    const { eventDatasets } = await client.call(routes.listEventDatasets, {});
    const own = made("POST /create-event-dataset");
    const there = eventDatasets.map(({ eventDatasetId }) => eventDatasetId).filter((id) => own.includes(id));
    expectOnly("EventDataset", "POST /create-event-dataset", there);

    // A model is accounted for by itself or by its job, and a job by its model.
    const jobs = new Map<string, string>();
    for (const jobId of made("POST /submit-training-job"))
      jobs.set((await this.#modelOf(jobId)) ?? jobId, jobId);
    const models: string[] = [];
    for (const projectId of made("POST /create-project")) {
      const list = await client.call(routes.listModels, { projectId });
      models.push(...list.models.map(({ modelId }) => modelId));
    }
    expectOnly(
      "Model",
      "POST /submit-training-job",
      models.filter((id) => {
        const job = jobs.get(id) ?? id;
        return held("Model").includes(id) || !(isLeft(job) || this.askedAgain.has(job));
      }),
    );
    for (const call of ["POST /submit-training-job", "POST /submit-deployment-job"]) {
      const unknown = this.#unaccounted().filter(
        (one) => one.call === call && !this.#isKnownByModel(one.id, jobs),
      );
      expect({ call, unknown: unknown.slice(this.#toldOf(call)) }).toEqual({ call, unknown: [] });
    }
  }

  #isKnownByModel(jobId: string, jobs: ReadonlyMap<string, string>): boolean {
    return [...jobs].some(([modelId, job]) => job === jobId && this.engine.everHeld.has(modelId));
  }
}

const unseen = {
  ...{ UserDataset: "user-dataset", ItemDataset: "item-dataset" },
  ...{ Project: "project", Algorithm: "algorithm" },
};
