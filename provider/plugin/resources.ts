import { isDeepStrictEqual } from "node:util";
import {
  type CheckRequest,
  CheckResponse,
  type CreateRequest,
  CreateResponse,
  type DeleteRequest,
  type DiffRequest,
  type DiffResponse,
  type ReadRequest,
  ReadResponse,
  type UpdateRequest,
  UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import type { Client } from "../../client/client";
import { unknownKeySentence } from "../../contract/messages";
import { definitions } from "../definitions";
import { stub } from "../dynamic/stub";
import { knownFields } from "../lifecycle/arguments";
import { idOutput } from "../lifecycle/definition";
import { PartialStateError } from "../lifecycle/failure";
import { reservedNameError } from "../lifecycle/hidden";
import { propertiesWithSecrets } from "../lifecycle/masked-lifecycle";
import type { Lifecycle } from "../lifecycle/protocol";
import { type Properties, packUrn, unpackUrn } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";
import { logicalName, partsOf, pluginTypePrefix, resourceTypeOf } from "../run/urn";
import { components } from "./components";
import { checkFailure } from "./config";
import { diffResponse } from "./diff";
import { NotFoundError } from "./failure";
import { assertReadable, importedState } from "./import";
import { rememberState } from "./stored";
import { fromStruct, sealedLike, toStruct, unsealed, withSealed } from "./values";

export async function check(request: CheckRequest): Promise<CheckResponse> {
  const urn = request.getUrn();
  const raw = fromStruct(request.getNews());
  const olds = unsealed(fromStruct(request.getOlds()));
  const given = knownFields(unsealed(raw));
  const hidden = hiddenFaults(olds, given);
  const news: Properties = { ...given, __urn: urn };
  const { inputs, failures } =
    hidden.length > 0 ? { inputs: given, failures: [] } : await lifecycleOf(urn).check(olds, news);
  // Records whether the program sets the name. Without this, an alias with a new logical name would rename the object.
  const named = { ...inputs, ...(news.name !== undefined && { __named: true }) };
  const reply = new CheckResponse();
  // A hash of secret content is secret too, because the content could be guessed from it.
  const origin = { ...raw, contentHash: raw.contentHash ?? [raw.source, raw.mapping] };
  reply.setInputs(toStruct(sealedLike(engineInputs(named), origin)));
  reply.setFailuresList([...hidden, ...failures.map(({ reason }) => reason)].map(checkFailure));
  return reply;
}

export async function diff(request: DiffRequest): Promise<DiffResponse> {
  const urn = request.getUrn();
  const definition = lifecycleOf(urn);
  const olds = unsealed(fromStruct(request.getOlds()));
  const news = { ...unsealed(fromStruct(request.getNews())), __urn: urn };
  const difference = await definition.diff(request.getId(), olds, news);
  const reply = diffResponse(difference, olds, news);
  const stable = definition.outputNames.filter((key) => key === idOutput(definition.type));
  if (difference.replaces.length === 0) reply.setStablesList(stable);
  return reply;
}

/**
 * Creates a resource, or previews its outputs. With `maySwitchBack`, the state also contains what a dynamic provider
 * needs.
 */
export async function create(request: CreateRequest, maySwitchBack: boolean): Promise<CreateResponse> {
  const urn = request.getUrn();
  const definition = lifecycleOf(urn);
  const raw = fromStruct(request.getProperties());
  const inputs = { ...unsealed(raw), __urn: urn };
  const state = (properties: object) => stateOf(definition, properties as Properties, maySwitchBack, raw);
  const reply = new CreateResponse();
  if (request.getPreview()) {
    reply.setProperties(toStruct(state(previewOfCreate(definition, inputs))));
    return reply;
  }
  const { id, outs } = await sealPartialState(
    definition,
    urn,
    definition.create(inputs, callOf(request)),
    state,
  );
  rememberState(definition.type, urn, id, outs);
  reply.setId(id);
  reply.setProperties(toStruct(state(outs)));
  return reply;
}

export async function read(
  request: ReadRequest,
  maySwitchBack: boolean,
  clientHere: () => Promise<Client>,
): Promise<ReadResponse> {
  const urn = request.getUrn();
  const definition = lifecycleOf(urn);
  const [raw, rawInputs] = [fromStruct(request.getProperties()), fromStruct(request.getInputs())];
  // An import has an id but no state.
  const isImport = Object.keys(raw).length === 0;
  // In a lookup by a program, the state has no token. State that this package has stored has one.
  if (!isImport && raw.__made === undefined && raw.__urn === undefined)
    assertReadable(definition, request.getId());
  const stored = isImport
    ? await importedState(definition, request.getId(), clientHere)
    : { id: request.getId(), state: lifecycleState(raw, urn) };
  const reply = new ReadResponse();
  if (!stored) return reply;
  const found = await definition.read(stored.id, { ...stored.state, __urn: urn });
  reply.setId(found.id);
  const { __firstName, __named } = isImport ? { __named: true } : nameOrigin(rawInputs, found.inputs ?? {});
  // A dynamic provider reads arguments only from the state, so the state contains `__firstName` too.
  const props = { ...found.props, ...(__firstName && { __firstName }) };
  reply.setProperties(
    toStruct(stateOf(definition, props, maySwitchBack || raw.__provider !== undefined, raw)),
  );
  const inputs = engineInputs({
    ...found.inputs,
    ...(__firstName && { __firstName }),
    ...(__named && { __named }),
  });
  reply.setInputs(toStruct(sealedLike(inputs, rawInputs, raw)));
  return reply;
}

export async function update(request: UpdateRequest, maySwitchBack: boolean): Promise<UpdateResponse> {
  const urn = request.getUrn();
  const definition = lifecycleOf(urn);
  const [rawOlds, raw] = [fromStruct(request.getOlds()), fromStruct(request.getNews())];
  const [olds, news] = [lifecycleState(rawOlds, urn), { ...unsealed(raw), __urn: urn }];
  const state = (properties: object) =>
    stateOf(definition, properties as Properties, maySwitchBack, raw, rawOlds);
  const reply = new UpdateResponse();
  if (request.getPreview()) {
    reply.setProperties(toStruct(state(previewOfUpdate(definition, olds, news))));
    return reply;
  }
  const id = request.getId();
  const { outs } = await sealPartialState(
    definition,
    urn,
    definition.update(id, olds, news, callOf(request)),
    state,
  );
  rememberState(definition.type, urn, id, outs);
  reply.setProperties(toStruct(state(outs)));
  return reply;
}

/** Returns the outputs in the preview of a create: the arguments, and the id if an object is adopted. */
function previewOfCreate(definition: Lifecycle, inputs: Properties): Properties {
  const { existingId } = inputs;
  const id = idOutput(definition.type);
  const unknown = Object.fromEntries(definition.outputNames.map((key) => [key, unknownValue]));
  const isAdopted = definition.outputNames.includes(id) && existingId !== undefined;
  return { ...unknown, ...inputs, ...(isAdopted && { [id]: existingId }) };
}

/** Returns the outputs in the preview of an update. If an argument changes, only stable outputs are known. */
function previewOfUpdate(definition: Lifecycle, olds: Properties, news: Properties): Properties {
  const changes = definition.argumentNames.some(
    (key) => !isDeepStrictEqual(olds[key] ?? null, news[key] ?? null),
  );
  const isStable = (key: string) =>
    !changes || key === idOutput(definition.type) || definition.stableOutputs.includes(key);
  const outputs = definition.outputNames.map((key) => [key, isStable(key) ? olds[key] : unknownValue]);
  return { ...Object.fromEntries(outputs), ...news };
}

/** Deletes a resource. `customTimeouts` does not apply, because no delete waits for a job. */
export async function remove(request: DeleteRequest): Promise<void> {
  const urn = request.getUrn();
  await lifecycleOf(urn).delete(request.getId(), lifecycleState(fromStruct(request.getProperties()), urn));
}

function lifecycleOf(urn: string): Lifecycle {
  const type = partsOf(urn).type.split("$").at(-1) ?? "";
  const name = resourceTypeOf(type) ?? "";
  if (Object.hasOwn(definitions, name)) return definitions[name] as Lifecycle;
  const component = components.find((one) => pluginTypePrefix + one.type === type);
  if (component)
    throw new NotFoundError(
      `${component.type} is a component of two resources, ${component.job} and ${component.result}: ` +
        `import ${pluginTypePrefix}${component.result}`,
    );
  const names = Object.keys(definitions);
  const types = names.map((known) => pluginTypePrefix + known);
  throw new NotFoundError(`The resource type ${unknownKeySentence(type, types, names)}`);
}

/**
 * Rejects hidden arguments. Allows `__unresolved`, which the classes of this package add, and those in the old inputs,
 * because an import and `ignoreChanges` pass them back.
 */
function hiddenFaults(olds: Properties, given: Properties): string[] {
  const own = ({ __unresolved: _, ...rest }: Properties) => Object.entries(rest);
  const added = own(given).filter(([name, value]) => !isDeepStrictEqual(olds[name], value));
  return added.flatMap(([name]) => reservedNameError(name) ?? []);
}

/**
 * Converts stored state for a lifecycle. State from an earlier version has no token, so its URN is used as the token.
 */
function lifecycleState(raw: Properties, urn: string): Properties {
  const state = unpackUrn(unsealed(raw));
  const token = state.__made ?? state.__urn;
  return { ...state, __urn: urn, ...(token !== undefined && { __made: token }) };
}

/**
 * Converts outputs to the form that the engine stores. Marks a value as secret if it was secret before, contains a
 * secret, or is always secret.
 */
function stateOf(
  definition: Lifecycle,
  { __urn, __made, __provider, __firstName, __named: _, ...rest }: Properties,
  maySwitchBack: boolean,
  ...origins: readonly Properties[]
): Properties {
  const state = {
    ...rest,
    ...(__firstName !== logicalName(__urn) && { __firstName }),
    // A dynamic provider reads the URN and its lifecycle from the state.
    ...packUrn(__made, maySwitchBack ? __urn : undefined),
    ...(maySwitchBack && { __provider: stub(definition.type) }),
  };
  const sealed = sealedLike(state, ...origins);
  return withSealed(sealed, [...definition.secretOutputs, ...propertiesWithSecrets(definition, sealed)]);
}

/**
 * Returns the properties that show whether the program has set the name. A name that was changed in the service was not
 * set by the program.
 */
function nameOrigin(before: Properties, now: Properties): Properties {
  if (before.__named || before.__firstName !== undefined) return before;
  // State from a dynamic provider has the URN instead.
  const first = before.__urn ? logicalName(before.__urn) : before.name;
  return first === now.name ? before : { ...before, __firstName: first as string };
}

/** Converts inputs to the form that the engine stores. */
function engineInputs({ __urn, __provider, ...rest }: Properties): Properties {
  return knownFields(rest);
}

/** Marks the secrets in the state of a PartialStateError, as in any other state that the engine stores. */
function sealPartialState<T>(
  { type }: Lifecycle,
  urn: string,
  work: Promise<T>,
  state: (properties: object) => Properties,
): Promise<T> {
  return work.catch((error) => {
    if (error instanceof PartialStateError) {
      rememberState(type, urn, error.id, error.properties as Properties);
      error.properties = state(error.properties);
    }
    throw error;
  });
}

/** Returns the timeout from `customTimeouts`. */
function callOf(request: { getTimeout(): number }): { timeoutMs?: number } {
  return request.getTimeout() > 0 ? { timeoutMs: request.getTimeout() * 1000 } : {};
}
