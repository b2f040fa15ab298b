import { randomUUID } from "node:crypto";
import { acceptedAt, readSettings, type Settings } from "../../client/settings";
import { eraseStoredIn, orphanWarning } from "../recovery/earlier-run";
import { isCreating } from "../recovery/in-flight";
import type { JournalEntry } from "../recovery/journal";
import { lostCallOf, UnknownCreationError } from "../recovery/unknown-creation";
import type { Context } from "../run/context";
import { connectToEngine, exitWithEngine, log, type Urn } from "../run/engine";
import { isReplacedByCommand } from "../run/engine-command";
import { openSession, requireTokens, runOf } from "../run/session";
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
  withoutUnknown,
  withUnresolved,
} from "./arguments";
import { type Declaration, type ResourceDefinition, rulesOf } from "./definition";
import { adoptionError, createOrAdopt, orphan, orphanLostCreation, reportStillUsed } from "./existing";
import { PartialStateError, withoutStack } from "./failure";
import { rejectGone, serviceProperties } from "./location";
import { maskedLifecycle } from "./masked-lifecycle";
import { observe } from "./observation";
import type { Call, Lifecycle } from "./protocol";
import { scopeFault } from "./scopes";
import { reportOnce, withTitle } from "./titled";
import { adoptionText, changeTexts, deletionFaultText, replacementOf, unknownAdoptionText } from "./wording";

/** Has a definition go through what every definition goes through; the types of its methods follow from its schemas. */
export function lifecycle<Args extends object, Outputs extends object>(
  definition: ResourceDefinition<Args, Outputs>,
): Lifecycle {
  type State = Args & Outputs;
  const { type } = definition;
  const argKeys = Object.keys(definition.args.shape);
  const refuseUnknown = (asked: Properties) => {
    const unknown = argKeys.find((key) => containsUnknown(asked[key]));
    if (unknown) throw new Error(`${titleOf(asked.__urn)}: ${unknown} is not known yet`);
  };
  // Read when it is first needed: its errors belong to a resource, and a run that changes nothing makes no call.
  let settings = (): Settings => {
    throw new Error("the provider is not configured yet");
  };
  let config: Declaration["config"] = () => undefined;

  const contextOf = async (properties: Properties, { timeoutMs }: Call = {}): Promise<Context> => {
    const urn = properties.__urn;
    return { ...(await openSession(settings(), urn)), urn, title: titleOf(urn), timeoutMs };
  };
  const kept = (properties: Properties, outputs: object): Properties => {
    const { __provider, __instance, ...rest } = properties;
    return { ...rest, ...outputs, ...serviceProperties(settings()) };
  };
  const unsettledIn = (id: string, state: Properties): Promise<Properties | undefined> | undefined => {
    const row = { id, urn: state.__urn, run: runOf(settings()), settings: settings() };
    return definition.unsettled?.(state as State, row);
  };

  const titleOf = (urn: Urn) => `${type} ${logicalName(urn)}`.trim();
  const consequence = (id: string, olds: Properties, news: Properties, keys: readonly string[]) =>
    definition.replacementWarning?.(
      replacementOf({
        ...{ id, title: titleOf(news.__urn), name: logicalName(news.__urn), state: olds },
        changes: keys.flatMap((key) => changeTexts(key, olds[key], news[key], runOf(settings()).sourceNames)),
      }),
    );

  /** What was created or adopted, which the row of the resource claims from now on. */
  const created = ({ run }: Context, inputs: Properties, id: string, outputs: object) => {
    const outs = kept(inputs, outputs);
    run.claims.add(stateEntryOf(type, id, outs));
    return { id, outs };
  };

  const located = (id: string, row: Properties) =>
    withTitle({ title: titleOf(row.__urn), run: runOf(settings()) }, () =>
      verifiedLocation(stateEntryOf(type, id, row), row, settings()),
    );

  /** What killed runs began for a resource of the state. Only a create must stop for a journal that cannot be read. */
  const leftoversOf = async (id: string, row: Properties): Promise<JournalEntry[]> =>
    eraseStoredIn(id, row).catch(async ({ message }: Error) => {
      await runOf(settings()).warnOnce(row.__urn, message);
      return [];
    });

  /** State that an error keeps must lead back to this lifecycle like any other. */
  const partially = <T>(properties: Properties, work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      if (error instanceof PartialStateError) {
        const { __provider, __urn, __made } = properties;
        error.properties = {
          ...kept({ __urn, ...(__made ? { __made } : {}), __partial: true }, error.properties),
          __provider,
        };
      }
      throw error;
    });

  const open: Lifecycle = {
    ...rulesOf(definition),

    async configure(request) {
      connectToEngine();
      exitWithEngine(isCreating);
      config = (key) => request.config.get(`recommender:${key}`);
      let read: Settings | undefined;
      settings = () => {
        read ??= readSettings(config);
        return read;
      };
    },

    async check(olds: Properties, news: Properties) {
      return withoutStack(async () => {
        // Configuration that is missing or contradicts itself is reported by the preview.
        const declaration = { urn: news.__urn, title: titleOf(news.__urn), run: runOf(settings()), config };
        await reportOnce(declaration, () => requireTokens(settings(), news.__urn));
        // The engine drops its notes of a killed run with the first change of this run.
        if (Object.keys(olds).length > 0) await declaration.run.pending.load(news.__urn);
        const schema = acceptedAt(settings().baseUrl, definition.args);
        const named = withName(schema, olds, withUnresolved(news));
        const given = (await definition.complete?.(named, declaration)) ?? named;
        const completed = withDefaults(schema, given);
        // Outside a preview the engine takes no unknown value: it would end the run, not only what failed.
        const inputs = news.__unresolved ? withoutUnknown(completed) : completed;
        const isNew = Object.keys(olds).length === 0;
        if (!isNew) declaration.run.inState.add(news.__urn);
        const refused = definition.validate?.(given as Args, declaration);
        const failures = checkFailures(schema, given, refused);
        const { inState, replacedByDiff } = declaration.run;
        // The engine checks a replacement as if it were new. If no comparison asked for it, the engine forces it.
        const isInState = inState.has(news.__urn) || isReplacedByCommand(news.__urn);
        if (isNew && isInState && !replacedByDiff.has(news.__urn)) {
          const words = consequence("", {}, inputs, []);
          if (words) await declaration.run.warnOnce(news.__urn, words);
        }
        if (isNew && failures.length === 0) {
          const step = given.existingId === undefined ? "create" : "adopt";
          const fault =
            (await definition.predictFailure?.(given as Args, declaration)) ??
            (await scopeFault(definition.calls(given as Args)[step], declaration, settings()));
          if (fault !== undefined) failures.push({ property: "", reason: fault });
        }
        if (isNew && failures.length === 0 && !containsUnknown(inputs)) {
          const reason = await reportOnce(declaration, () =>
            adoptionError(definition, inputs, () => contextOf(inputs)),
          );
          if (reason !== undefined) failures.push({ property: "", reason });
        }
        return { inputs, failures };
      });
    },

    async diff(id: string, olds: Properties, news: Properties) {
      return withoutStack(async () => {
        const where = rejectGone(await located(id, olds), settings());
        runOf(settings()).reached.add(news.__urn);
        // The state keeps the name of before an alias, until it is next changed.
        const urns = [...new Set([olds.__urn, news.__urn])];
        const leftovers = (
          await Promise.all(urns.map((__urn) => leftoversOf(id, { ...olds, __urn })))
        ).flat();
        if (lostCallOf(id)) {
          // Repeated under its key, or adopted: either way under another id.
          runOf(settings()).replacedByDiff.add(news.__urn);
          runOf(settings()).placeholders.set(news.__urn ?? "", id);
          const replaces = argKeys.slice(0, 1);
          return { changes: true, changed: replaces, replaces, deleteBeforeReplace: false };
        }
        const { effective, replaces } = compare(definition, id, olds, news);
        const words = replaces.includes("existingId")
          ? adoptionText(id, news.existingId)
          : replaces.length > 0 && consequence(id, olds, news, replaces);
        if (words) await log.warn(news.__urn as Urn, words);
        if (containsUnknown(news.existingId)) await log.warn(news.__urn as Urn, unknownAdoptionText(id));
        const declared = { urn: news.__urn, title: titleOf(news.__urn), run: runOf(settings()) };
        if (replaces.length > 0) {
          declared.run.replacing.add(news.__urn);
          declared.run.replacedByDiff.add(news.__urn);
          const fault = await scopeFault(definition.calls(olds as Args).delete, declared, settings());
          if (fault) await log.warn(news.__urn as Urn, deletionFaultText(id, fault));
        }
        // What is declared again is not what a killed run has put in its place since.
        const undone = effective.length === 0 && leftovers.length > 0;
        if (undone) await log.warn(news.__urn as Urn, orphanWarning(leftovers));
        const isUpdated =
          effective.length > 0 ||
          (undone && definition.redo === true) ||
          (await unsettledIn(id, olds)) !== undefined;
        const calls = isUpdated && replaces.length === 0 ? definition.calls(news as Args).update : [];
        const fault = await scopeFault(calls, declared, settings());
        if (fault) throw new Error(fault);
        const changes = isUpdated || where === "moved";
        return { changes, changed: effective, replaces, deleteBeforeReplace: false };
      });
    },

    async create(asked: Properties, call?: Call) {
      // Tells copies of one id apart: a replacement may have found again what it replaces.
      const inputs = { ...asked, __made: randomUUID().slice(0, 8) };
      refuseUnknown(asked);
      const context = await contextOf(inputs, call);
      context.run.reached.add(context.urn);
      return withTitle(context, async () => {
        const made = createOrAdopt(definition, inputs as Args, context).catch((error) => {
          if (!(error instanceof UnknownCreationError && error.placeholder)) throw error;
          throw new PartialStateError(error.placeholder, inputs, error.message);
        });
        const { id, ...outputs } = await partially(inputs, made).catch((error) => {
          if (error instanceof PartialStateError) created(context, inputs, error.id, {});
          throw error;
        });
        return created(context, inputs, id, outputs);
      });
    },

    async read(id: string, properties: Properties = {}) {
      return withoutStack(async () => {
        await leftoversOf(id, properties);
        if ((await located(id, properties)) === "gone") return { id: "", props: {} };
        const found = await observe(definition, id, properties as State, () => contextOf(properties));
        if (found === "gone") return { id: "", props: {} };
        const seen: Properties = { ...properties, ...(found === "not seen" ? {} : found) };
        const props = kept({ ...seen, ...(await unsettledIn(id, seen)) }, {});
        return { id, props, inputs: argumentsIn(props, argKeys) };
      });
    },

    async update(id: string, olds: Properties, news: Properties, call?: Call) {
      refuseUnknown(news);
      const where = rejectGone(await located(id, olds), settings());
      const { update } = definition;
      // Only its service is remembered again: there is nothing to change.
      const isSettled = !olds.__partial && (await unsettledIn(id, olds)) === undefined;
      const isSame =
        where === "moved" && isSettled && compare(definition, id, olds, news).effective.length === 0;
      if (!update || isSame) return { outs: kept({ ...olds, ...news }, {}) };
      const context = await contextOf(news, call);
      return withTitle(context, async () => {
        if (olds.__unknown) context.run.placeholders.set(context.urn ?? "", olds.__unknown);
        const work = update.call(definition, id, olds as State, news as Args, context);
        const updated = work.catch((error) => {
          if (!(error instanceof UnknownCreationError && error.placeholder)) throw error;
          throw new PartialStateError(id, { ...olds, __unknown: error.placeholder }, error.message);
        });
        const own = olds.__made ? { ...news, __made: olds.__made } : news;
        const outputs = await partially(own, updated);
        return { outs: kept(own, outputs) };
      });
    },

    async delete(id: string, properties: Properties) {
      return withoutStack(async () => {
        await leftoversOf(id, properties);
        const where = await located(id, properties);
        if (where === "gone") return;
        const context = await contextOf(properties);
        const lost = lostCallOf(id);
        if (lost) return orphanLostCreation(lost, stateEntryOf(type, id, properties), context);
        const { leave, delete: remove } = definition;
        const state = properties as State;
        const end = () =>
          remove ? remove.call(definition, id, state, context) : orphan(id, definition.orphanType, context);
        const { service, ...row } = stateEntryOf(type, id, properties);
        // Rows may know the service by its old address or its new one.
        const claim = where === "moved" ? row : { ...row, service };
        await withTitle(context, () =>
          leave
            ? leave.call(definition, id, state, context)
            : context.run.claims.release(claim, (holder) =>
                holder ? reportStillUsed(holder, id, context) : end(),
              ),
        );
      });
    },
  };
  return maskedLifecycle(open, (key) => config(key));
}
