import { masked } from "../run/masking";
import { seal } from "../run/sealed-value";
import { containsSecret, maskingSecrets } from "../run/secrecy";
import { type Properties, unpackUrn } from "../run/state-entry";
import { enableProviderTracing, tracedStep } from "../run/tracing";
import type { Rules } from "./definition";
import { PartialStateError, withoutStack } from "./failure";
import { rejectMalformed } from "./hidden";
import type { Lifecycle, Steps } from "./protocol";

/** Prefix of secret names that are configuration keys, not arguments. */
const configurationPrefix = /^recommender:/;

/**
 * Wraps a lifecycle. Secret arguments and settings do not appear in its messages and errors, or unencrypted in the
 * state. Errors of `check`, `diff`, `read` and `delete` have no stack trace, because the dynamic provider would print
 * it.
 */
export function maskedLifecycle(own: Steps, rules: Rules): Lifecycle {
  const secretsIn = (properties: Properties): Properties => {
    rejectMalformed(properties);
    const { __secret: names = [], __service } = properties;
    const secretOf = (name: string) =>
      configurationPrefix.test(name) ? own.config(name.replace(configurationPrefix, "")) : properties[name];
    const secrets: Properties = Object.fromEntries(names.map((name) => [name, secretOf(name)]));
    // The configured address may have changed since the state was written, so the stored address is masked too.
    return __service && names.includes("recommender:baseUrl") ? { ...secrets, __service } : secrets;
  };
  const masking = async <T>(states: readonly Properties[], work: () => Promise<T>): Promise<T> =>
    maskingSecrets(states.map(secretsIn), work);
  /** Marks outputs that contain a secret. The engine only marks outputs that have the name of a secret argument. */
  const sealed = (state: Properties): Properties => {
    const seals = propertiesWithSecrets(rules, state).map((key) => [key, seal(state[key])]);
    return { ...state, ...Object.fromEntries(seals) };
  };
  const sealPartialState = (error: unknown): never => {
    if (error instanceof PartialStateError) error.properties = sealed(error.properties as Properties);
    throw error;
  };
  const step = <T>(operation: string, { __urn: urn }: Properties, work: () => Promise<T>): Promise<T> =>
    tracedStep(operation, { type: rules.type, urn }, work);
  return {
    ...rules,
    configure: (request) => {
      enableProviderTracing();
      return own.configure(request);
    },
    check: (olds, news) =>
      withoutStack(() =>
        masking([olds, news], async () => {
          const { inputs, failures } = await step("check", news, () => own.check(olds, news));
          return { inputs, failures: failures.map((reason) => ({ property: "", reason: masked(reason) })) };
        }),
      ),
    diff: (id, olds, news) =>
      withoutStack(() =>
        masking([olds, news], () => step("diff", news, () => own.diff(id, unpackUrn(olds), news))),
      ),
    create: (inputs, call) =>
      masking([inputs], async () => {
        const { id, outs } = await step("create", inputs, () => own.create(inputs, call)).catch(
          sealPartialState,
        );
        return { id, outs: sealed(outs) };
      }),
    read: (id, properties = {}) =>
      withoutStack(() =>
        masking([properties], async () => {
          const state = unpackUrn(properties);
          const read = await step("read", state, () => own.read(id, state));
          return { ...read, props: sealed(read.props) };
        }),
      ),
    update: (id, olds, news, call) =>
      masking([olds, news], async () => {
        const { outs } = await step("update", news, () => own.update(id, unpackUrn(olds), news, call)).catch(
          sealPartialState,
        );
        return { outs: sealed(outs) };
      }),
    delete: (id, properties) =>
      withoutStack(() =>
        masking([properties], () => {
          const state = unpackUrn(properties);
          return step("delete", state, () => own.delete(id, state));
        }),
      ),
  };
}

/** Returns the names of the outputs that contain a secret, and `__service` if the address contains one. */
export function propertiesWithSecrets({ outputNames, secretOutputs }: Rules, state: Properties): string[] {
  return [...outputNames, "__service"].filter((key) => containsSecret(state[key], secretOutputs));
}
