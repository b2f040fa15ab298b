import { type ConstructRequest, ConstructResponse } from "@pulumi/pulumi/proto/provider_pb";
import { RegisterResourceRequest, type RegisterResourceResponse } from "@pulumi/pulumi/proto/resource_pb";
import { Struct, Value } from "google-protobuf/google/protobuf/struct_pb";
import { unknownKeySentence } from "../../contract/messages";
import { version } from "../../package.json";
import { definitions } from "../definitions";
import type { Lifecycle } from "../lifecycle/protocol";
import { deletedAfterReplacement } from "../model";
import { log } from "../run/engine";
import { unknownValue } from "../run/unknown-value";
import { pluginTypePrefix } from "../run/urn";
import { type Component, components } from "./components";
import { NotFoundError } from "./failure";
import { type Monitor, monitorAt } from "./monitor";

/** Values from the program or the engine, unchanged, so secret and unknown values stay as they are. */
type Values = ReadonlyMap<string, Value>;

/** Arguments of the resources that a component does not accept. */
const internal = ["submittedJobId", "existingId"];

/** Registers a component and its two resources: a job, and a result that waits for the job. */
export async function construct(request: ConstructRequest): Promise<ConstructResponse> {
  const component = componentOf(request.getType());
  const jobDefinition = definitions[component.job] as Lifecycle;
  const resultDefinition = definitions[component.result] as Lifecycle;
  const names = [...new Set([...jobDefinition.argumentNames, ...resultDefinition.argumentNames])];
  const given = valuesOf(request.getInputs());
  rejectUnknown(request, given, names);
  const monitor = monitorAt(request.getMonitorendpoint());

  const { urn } = await register(monitor, registrationOf(request));
  if (component.result === "Model" && request.getDeletebeforereplace()) {
    request.clearDeletebeforereplace();
    await log.warn(urn, deletedAfterReplacement);
  }
  const job = await register(monitor, childOf(request, urn, jobDefinition, picked(given, jobDefinition)));
  const jobId = job.values.get("jobId") ?? unknown();
  const args = new Map([...picked(given, resultDefinition), ["submittedJobId", jobId]]);
  const result = await register(monitor, childOf(request, urn, resultDefinition, args, job.urn));

  const outputs = componentOutputs(result.values, resultDefinition, request.getDryrun());
  await monitor.registerOutputs(urn, structOf(outputs));
  return responseOf(urn, outputs, result.urn);
}

function componentOf(type: string): Component {
  const name = type.slice(pluginTypePrefix.length);
  const found = components.find((component) => component.type === name);
  if (found) return found;
  const names = components.map((component) => component.type);
  throw new NotFoundError(`Component type ${unknownKeySentence(name, names)}`);
}

function rejectUnknown(request: ConstructRequest, given: Values, names: readonly string[]): void {
  const known = names.filter((key) => !internal.includes(key));
  const other = [...given.keys()].find((key) => !known.includes(key));
  if (other === undefined) return;
  const title = `${request.getType().split(":").at(-1)} ${request.getName()}`;
  throw new Error(`${title}: ${unknownKeySentence(other, known)}`);
}

/** Returns the registration of the component itself. */
function registrationOf(request: ConstructRequest): RegisterResourceRequest {
  const registration = new RegisterResourceRequest();
  registration.setType(request.getType());
  registration.setName(request.getName());
  registration.setParent(request.getParent());
  registration.setObject(new Struct());
  registration.setAliasesList(request.getAliasesList());
  registration.setDependenciesList(request.getDependenciesList());
  for (const [name, reference] of request.getProvidersMap().entries())
    registration.getProvidersMap().set(name, reference);
  inherit(registration, request);
  return registration;
}

/** Returns the registration of a resource in the component. The resource has the component's name and dependencies. */
function childOf(
  request: ConstructRequest,
  parent: string,
  { type, argumentNames }: Lifecycle,
  args: Values,
  jobUrn?: string,
): RegisterResourceRequest {
  const registration = new RegisterResourceRequest();
  registration.setType(pluginTypePrefix + type);
  registration.setName(request.getName());
  registration.setParent(parent);
  registration.setCustom(true);
  registration.setProvider(request.getProvidersMap().get("recommender") ?? "");
  // Without a version, the engine could start another installed version of the plugin for the child.
  registration.setVersion(version);
  registration.setObject(structOf(args));
  const all = new Set([...request.getDependenciesList(), ...(jobUrn ? [jobUrn] : [])]);
  for (const key of args.keys()) {
    const programUrns = request.getInputdependenciesMap().get(key)?.getUrnsList() ?? [];
    const urns = key === "submittedJobId" && jobUrn ? [jobUrn] : programUrns;
    const dependencies = new RegisterResourceRequest.PropertyDependencies();
    dependencies.setUrnsList(urns);
    registration.getPropertydependenciesMap().set(key, dependencies);
    for (const urn of urns) all.add(urn);
  }
  registration.setDependenciesList([...all]);
  passOptions(request, registration, argumentNames);
  const hooks = jobUrn ? request.getResourceHooks()?.serializeBinary() : undefined;
  if (hooks) registration.setHooks(RegisterResourceRequest.ResourceHooksBinding.deserializeBinary(hooks));
  inherit(registration, request);
  return registration;
}

/** Passes on options that have no effect on the component itself. */
function passOptions(
  request: ConstructRequest,
  child: RegisterResourceRequest,
  names: readonly string[],
): void {
  // The engine rejects `ignoreChanges` with a property that does not exist.
  const ignored = request
    .getIgnorechangesList()
    .filter((path) => ["*", ...names].includes(firstProperty(path)));
  child.setIgnorechangesList(ignored);
  child.setReplaceonchangesList(request.getReplaceonchangesList());
  child.setAdditionalsecretoutputsList(request.getAdditionalsecretoutputsList());
  child.setReplaceWithList(request.getReplaceWithList());
  child.setReplacementTrigger(request.getReplacementTrigger());
  child.setDeletebeforereplace(request.getDeletebeforereplace() === true);
  child.setDeletebeforereplacedefined(request.hasDeletebeforereplace());
  const timeouts = request.getCustomtimeouts();
  if (timeouts) {
    const own = new RegisterResourceRequest.CustomTimeouts();
    own.setCreate(timeouts.getCreate());
    own.setUpdate(timeouts.getUpdate());
    own.setDelete(timeouts.getDelete());
    child.setCustomtimeouts(own);
  }
}

/** Returns the first property of an engine path, such as `parameters.minUserNum` or `["name"]`. */
function firstProperty(path: string): string {
  return /[^.[\]"]+/.exec(path)?.[0] ?? "";
}

/** Sets options that apply to the component and to each of its resources. */
function inherit(registration: RegisterResourceRequest, request: ConstructRequest): void {
  registration.setAcceptsecrets(true);
  registration.setSupportspartialvalues(true);
  registration.setAliasspecs(true);
  registration.setDeletedwith(request.getDeletedwith());
  if (request.hasProtect()) registration.setProtect(request.getProtect() === true);
  if (request.hasRetainondelete()) registration.setRetainondelete(request.getRetainondelete() === true);
}

async function register(
  monitor: Monitor,
  registration: RegisterResourceRequest,
): Promise<{ readonly urn: string; readonly values: Values }> {
  const registered: RegisterResourceResponse = await monitor.register(registration);
  return { urn: registered.getUrn(), values: valuesOf(registered.getObject()) };
}

/** Returns the outputs of the component, which are those of its result. */
function componentOutputs(values: Values, definition: Lifecycle, isPreview: boolean): Values {
  const names = [...definition.argumentNames, ...definition.outputNames].filter(
    (key) => !internal.includes(key),
  );
  return new Map(
    names.flatMap((key) => {
      const value = values.get(key) ?? (isPreview ? unknown() : undefined);
      return value ? [[key, value] as const] : [];
    }),
  );
}

function responseOf(urn: string, outputs: Values, resultUrn: string): ConstructResponse {
  const reply = new ConstructResponse();
  reply.setUrn(urn);
  reply.setState(structOf(outputs));
  for (const key of outputs.keys()) {
    const dependencies = new ConstructResponse.PropertyDependencies();
    dependencies.setUrnsList([resultUrn]);
    reply.getStatedependenciesMap().set(key, dependencies);
  }
  return reply;
}

function picked(values: Values, { argumentNames }: Lifecycle): Values {
  return new Map([...values].filter(([key]) => argumentNames.includes(key)));
}

function valuesOf(struct: Struct | undefined): Values {
  return new Map(struct ? [...struct.getFieldsMap().entries()] : []);
}

/** Creates a struct from unchanged values. */
function structOf(values: Values): Struct {
  const struct = new Struct();
  for (const [key, value] of values) struct.getFieldsMap().set(key, value);
  return struct;
}

function unknown(): Value {
  return Value.fromJavaScript(unknownValue);
}
