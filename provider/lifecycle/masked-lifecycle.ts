import { masked } from "../run/masking";
import { seal } from "../run/sealed-value";
import { containsSecret, maskingSecrets } from "../run/secrecy";
import { type Properties, unpackUrn } from "../run/state-entry";
import type { Rules } from "./definition";
import { PartialStateError } from "./failure";
import { rejectMalformed } from "./hidden";
import type { Lifecycle } from "./protocol";

/** A secret that is not an argument but a key of the configuration. */
const ofConfiguration = /^recommender:/;

/**
 * The same lifecycle, but what it says and throws does not show what a program says is secret: arguments, and keys of the
 * configuration, whose values `config` knows.
 */
export function maskedLifecycle(own: Lifecycle, config: (key: string) => string | undefined): Lifecycle {
  const secretsIn = (properties: Properties): Properties => {
    rejectMalformed(properties);
    const { __secret: names = [], __service } = properties;
    const secretOf = (name: string) =>
      ofConfiguration.test(name) ? config(name.replace(ofConfiguration, "")) : properties[name];
    const secrets: Properties = Object.fromEntries(names.map((name) => [name, secretOf(name)]));
    // What it was when the state was written.
    return __service && names.includes("recommender:baseUrl") ? { ...secrets, __service } : secrets;
  };
  /** With what shows a secret sealed: the engine knows only by its name what is secret. */
  const sealed = (state: Properties): Properties => {
    const seals = propertiesWithSecrets(own, state).map((key) => [key, seal(state[key])]);
    return { ...state, ...Object.fromEntries(seals) };
  };
  const sealedPart = (error: unknown): never => {
    if (error instanceof PartialStateError) error.properties = sealed(error.properties as Properties);
    throw error;
  };
  return {
    ...own,
    check: async (olds, news) =>
      maskingSecrets([secretsIn(olds), secretsIn(news)], async () => {
        const { inputs, failures } = await own.check(olds, news);
        return { inputs, failures: failures.map((fault) => ({ ...fault, reason: masked(fault.reason) })) };
      }),
    diff: async (id, olds, news) =>
      maskingSecrets([secretsIn(olds), secretsIn(news)], () => own.diff(id, unpackUrn(olds), news)),
    create: async (inputs, call) =>
      maskingSecrets([secretsIn(inputs)], async () => {
        const { id, outs } = await own.create(inputs, call).catch(sealedPart);
        return { id, outs: sealed(outs) };
      }),
    read: async (id, properties = {}) =>
      maskingSecrets([secretsIn(properties)], async () => {
        const read = await own.read(id, unpackUrn(properties));
        return { ...read, props: sealed(read.props) };
      }),
    update: async (id, olds, news, call) =>
      maskingSecrets([secretsIn(olds), secretsIn(news)], async () => {
        const { outs } = await own.update(id, unpackUrn(olds), news, call).catch(sealedPart);
        return { outs: sealed(outs) };
      }),
    delete: async (id, properties) =>
      maskingSecrets([secretsIn(properties)], () => own.delete(id, unpackUrn(properties))),
  };
}

/** What of a state shows a secret, beside its arguments: outputs, and the address of the service. */
export function propertiesWithSecrets({ outputNames, secretOutputs }: Rules, state: Properties): string[] {
  return [...outputNames, "__service"].filter((key) => containsSecret(state[key], secretOutputs));
}
