import { randomUUID } from "node:crypto";
import { acceptedAt, readSettings, type Settings } from "../../client/settings";
import { adoptionFault } from "../recovery/adoption";
import { eraseStoredIn, orphanWarning } from "../recovery/earlier-run";
import { isCreating } from "../recovery/in-flight";
import type { JournalEntry } from "../recovery/journal";
import { lostCallOf, newPlaceholder } from "../recovery/unknown-creation";
import type { Context } from "../run/context";
import { connectToEngine, exitWithEngine, log, type Urn } from "../run/engine";
import { initialStateOf, lazySession, openSession, requireTokens, runOf } from "../run/session";
import { type Properties, stateEntryOf } from "../run/state-entry";
import { logicalName } from "../run/urn";
import { verifiedLocation } from "./account-proof";
import {
  argumentsIn,
  checkFailures,
  compare,
  containsUnknown,
  withDefaults,
  withName,
  withoutUndefined,
  withoutUnknown,
  withUnresolved,
} from "./arguments";
import { type Declaration, type Definition, type ResourceDefinition, rulesOf } from "./definition";
import {
  adoptionError,
  createOrAdopt,
  deleteOrOrphan,
  orphanLostCreation,
  reportStillUsed,
} from "./existing";
import { PartialStateError } from "./failure";
import { replacePlaceholder } from "./interrupted-replacement";
import { keptBy, settledBy, stepOf, withJournalId } from "./killed";
import { type Location, rejectGone, serviceProperties } from "./location";
import { maskedLifecycle } from "./masked-lifecycle";
import { observe } from "./observation";
import type { Call, ConfigureRequest, Lifecycle, Steps } from "./protocol";
import { warnOfForcedReplacement, warnOfReplacement } from "./replacement";
import { scopeFault } from "./scopes";
import { reportOnce, withTitle } from "./titled";

/** Creates the lifecycle of a resource type from its definition, with secrets masked. */
export function lifecycle<Args extends object, Outputs extends object>(
  typed: ResourceDefinition<Args, Outputs>,
): Lifecycle {
  // The engine may pass properties of any type, but the schemas check them before a method receives them.
  const definition = typed as unknown as Definition;
  return maskedLifecycle(new ResourceLifecycle(definition), rulesOf(definition));
}

/** Steps that all resource types share. `hiddenProperties` documents the `__…` properties that they store. */
class ResourceLifecycle implements Steps {
  config: Declaration["config"] = () => {
    throw new Error("the provider is not configured yet");
  };
  #read: Settings | undefined;

  constructor(private readonly definition: Definition) {}

  get #argKeys(): readonly string[] {
    return Object.keys(this.definition.args.shape);
  }

  async configure(request: ConfigureRequest) {
    connectToEngine();
    exitWithEngine(isCreating);
    this.config = (key) => request.config.get(`recommender:${key}`);
    this.#read = undefined;
  }

  async check(olds: Properties, news: Properties) {
    const { definition } = this;
    // Read the engine's notes about a killed run early. The engine drops its notes of updates at the first change of
    // this run, even if the run then fails.
    await initialStateOf(() => this.#settings()).load({ urn: news.__urn ?? "" });
    const declaration = this.#declaration(news.__urn);
    const { run, urn } = declaration;
    const isNew = Object.keys(olds).length === 0;
    const adoption = adoptionFault();
    if (adoption) throw new Error(adoption);
    // Checked here, so a preview already reports a configuration that is incomplete or contradicts itself.
    await reportOnce(declaration, () => requireTokens(this.#settings(), urn));
    if (!isNew) run.inState.add(urn);
    const schema = acceptedAt(this.#settings().baseUrl, definition.args);
    const named = withName(schema, olds, withUnresolved(news));
    const given = (await definition.complete?.(named, declaration, olds)) ?? named;
    const completed = withDefaults(schema, given);
    // Outside a preview, the engine aborts the whole run if `check` returns an unknown value.
    const inputs = news.__unresolved ? withoutUnknown(completed) : completed;
    const failures = checkFailures(schema, given, await definition.validate?.(given, declaration));
    if (isNew) {
      await warnOfForcedReplacement(definition, declaration, inputs);
      const reason = failures.length === 0 && (await this.#creationFault(given, inputs, declaration));
      if (reason) failures.push(reason);
    }
    return { inputs: withJournalId(definition, olds, inputs), failures };
  }

  async diff(id: string, olds: Properties, news: Properties) {
    const { definition } = this;
    const location = rejectGone(await this.#locate(id, olds), this.#settings());
    const declaration = this.#declaration(news.__urn);
    const { run, urn } = declaration;
    run.reached.add(urn);
    // If an alias has renamed the resource, the state has the old URN until the next update.
    const urns = [...new Set([olds.__urn, urn])];
    const leftovers = (
      await Promise.all(urns.map((__urn) => this.#leftoversOf(id, { ...olds, __urn })))
    ).flat();
    const configured = { ...declaration, settings: this.#settings() };
    if (lostCallOf(id)) return replacePlaceholder(definition, configured, { id, olds, news });
    const { effective, replaces } = compare(definition, id, olds, news);
    await warnOfReplacement(definition, configured, { id, olds, news, replaces });
    // True if the program declares the stored arguments again after a killed run has created an object with different
    // ones.
    const isReverted = effective.length === 0 && leftovers.length > 0;
    if (isReverted) await log.warn(urn, orphanWarning(leftovers));
    const isUpdated =
      effective.length > 0 ||
      (isReverted && definition.redo === true) ||
      (await this.#unsettled(id, olds, news)) !== undefined;
    const calls = isUpdated && replaces.length === 0 ? definition.calls(news).update : [];
    const fault = await scopeFault(calls, declaration, this.#settings());
    if (fault) throw new Error(fault);
    const changes = isUpdated || location === "moved";
    return { changes, changed: effective, replaces };
  }

  async create(given: Properties, call?: Call) {
    const inputs = { ...given, __made: randomUUID().slice(0, 8) };
    this.#rejectUnknown(given);
    const context = { ...(await this.#context(inputs, call)), step: stepOf(this.definition, inputs, true) };
    context.run.reached.add(context.urn);
    return withTitle(context, async () => {
      const { id, ...outputs } = await this.#keepingState(
        inputs,
        (placeholder, message) => new PartialStateError(placeholder, inputs, message),
        () => createOrAdopt(this.definition, inputs, context),
      );
      const outs = this.#stored(inputs, { ...outputs, ...(await settledBy(this.definition, context)) });
      context.run.claims.add(stateEntryOf(this.definition.type, id, outs));
      return { id, outs };
    });
  }

  async read(id: string, properties: Properties = {}) {
    const gone = { id: "", props: {} };
    await this.#leftoversOf(id, properties);
    if ((await this.#locate(id, properties)) === "gone") return gone;
    const found = await observe(this.definition, id, properties, () => this.#context(properties));
    if (found === "gone") return gone;
    const observed: Properties = { ...properties, ...(found === "not seen" ? {} : found) };
    const props = this.#stored({ ...observed, ...(await this.#unsettled(id, observed)) }, {});
    return { id, props, inputs: argumentsIn(props, this.#argKeys) };
  }

  async update(id: string, olds: Properties, news: Properties, call?: Call) {
    const { definition } = this;
    this.#rejectUnknown(news);
    const location = rejectGone(await this.#locate(id, olds), this.#settings());
    // If only the address of the service has changed, the state is rewritten without a call.
    const isSettled = !olds.__partial && (await this.#unsettled(id, olds, news)) === undefined;
    const isUnchanged =
      location === "moved" && isSettled && compare(definition, id, olds, news).effective.length === 0;
    if (!definition.update || isUnchanged) return { outs: this.#stored({ ...olds, ...news }, {}) };
    const context = { ...(await this.#context(news, call)), step: stepOf(this.definition, news, false) };
    return withTitle(context, async () => {
      if (olds.__unknown) context.run.placeholders.set(context.urn ?? "", olds.__unknown);
      const own = { ...news, ...keptBy(this.definition, olds) };
      const outputs = await this.#keepingState(
        own,
        (__unknown, message) => new PartialStateError(id, { ...olds, __unknown }, message),
        async () => definition.update?.(id, olds, news, context),
      );
      return { outs: this.#stored(own, outputs ?? {}) };
    });
  }

  async delete(id: string, properties: Properties) {
    const { definition } = this;
    await this.#leftoversOf(id, properties);
    const location = await this.#locate(id, properties);
    if (location === "gone") return;
    const context = await this.#context(properties);
    const { service, ...stateEntry } = stateEntryOf(definition.type, id, properties);
    const lost = lostCallOf(id);
    if (lost) return orphanLostCreation(lost, { ...stateEntry, service }, context);
    // If the service has moved, entries may have its old or new address, so the address is not compared.
    const claim = location === "moved" ? stateEntry : { ...stateEntry, service };
    await withTitle(context, async () => {
      if (definition.leave) return definition.leave(id, properties, context);
      return context.run.claims.release(claim, async (user) => {
        if (user) return reportStillUsed(user, id, context);
        return deleteOrOrphan(definition, id, properties, context);
      });
    });
  }

  /** Reads the settings on first use, so an error in them is reported for a resource. */
  #settings(): Settings {
    this.#read ??= readSettings(this.config);
    return this.#read;
  }

  #declaration(urn: Urn): Declaration {
    return { urn, title: this.#titleOf(urn), config: this.config, ...lazySession(this.#settings(), urn) };
  }

  async #context({ __urn: urn }: Properties, { timeoutMs }: Call = {}): Promise<Context> {
    return { ...(await openSession(this.#settings(), urn)), urn, title: this.#titleOf(urn), timeoutMs };
  }

  #titleOf(urn: Urn): string {
    return `${this.definition.type} ${logicalName(urn)}`.trim();
  }

  #rejectUnknown(inputs: Properties): void {
    const unknown = this.#argKeys.find((key) => containsUnknown(inputs[key]));
    if (unknown) throw new Error(`${this.#titleOf(inputs.__urn)}: ${unknown} is not known yet`);
  }

  /** Returns the properties that the engine stores, with the current service and account. */
  #stored({ __provider, __instance, __journal, ...rest }: Properties, outputs: object): Properties {
    return withoutUndefined({ ...rest, ...outputs, ...serviceProperties(this.#settings()) });
  }

  #unsettled(
    id: string,
    state: Properties,
    declared?: Properties,
  ): Promise<Properties | undefined> | undefined {
    const resource = { id, urn: state.__urn, run: runOf(this.#settings()), settings: this.#settings() };
    return this.definition.unsettled?.(state, resource, declared);
  }

  #locate(id: string, state: Properties): Promise<Location> {
    return withTitle(this.#declaration(state.__urn), () =>
      verifiedLocation(stateEntryOf(this.definition.type, id, state), state, this.#settings()),
    );
  }

  /**
   * Returns the creates that killed runs have left behind for a stored resource. If the journal is unreadable, only
   * warns, because only creates need to stop then.
   */
  async #leftoversOf(id: string, state: Properties): Promise<JournalEntry[]> {
    const entry = stateEntryOf(this.definition.type, id, state);
    await initialStateOf(() => this.#settings()).load(entry);
    const run = runOf(this.#settings());
    return eraseStoredIn(entry, state, run).catch(async ({ message }: Error) => {
      await run.warnOnce(state.__urn, message);
      return [];
    });
  }

  /**
   * Runs a create or update. If it fails halfway, the error contains the state to store, and the next run updates the
   * resource. `lost` builds that error if a create got no response.
   */
  async #keepingState<T>(
    inputs: Properties,
    lost: (placeholder: string, message: string) => PartialStateError,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const stored = runOf(this.#settings()).placeholders.get(inputs.__urn ?? "");
      const placeholder = newPlaceholder(error, stored);
      const failure = placeholder === undefined ? error : lost(placeholder, (error as Error).message);
      if (!(failure instanceof PartialStateError)) throw failure;
      const { __provider, __urn, __made } = inputs;
      const own = this.#stored({ __urn, ...(__made && { __made }), __partial: true }, failure.properties);
      failure.properties = { ...own, __provider };
      runOf(this.#settings()).claims.add(stateEntryOf(this.definition.type, failure.id, own));
      throw failure;
    }
  }

  /** Returns the reason why creating or adopting the object would fail, if it can be predicted. */
  async #creationFault(given: Properties, inputs: Properties, declaration: Declaration) {
    const { definition } = this;
    const step = given.existingId === undefined ? "create" : "adopt";
    const fault =
      (await definition.predictFailure?.(given, declaration)) ??
      (await scopeFault(definition.calls(given)[step], declaration, this.#settings()));
    if (fault !== undefined || containsUnknown(inputs)) return fault;
    return reportOnce(declaration, () => adoptionError(definition, inputs, () => this.#context(inputs)));
  }
}
