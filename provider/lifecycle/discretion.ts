import { masked } from "../run/masking";
import type { Properties } from "../run/row";
import { seal } from "../run/sealed-value";
import { isSecretValue, keepingSecret } from "../run/secrecy";
import { refuseMalformed } from "./hidden";
import type { Lifecycle } from "./protocol";

/** The same lifecycle, but what it says and throws does not show the arguments that a program says are secret. */
export function discreet(own: Lifecycle): Lifecycle {
  /** With outputs that repeat a secret sealed: the engine knows only by its name what is secret. */
  const sealed = (state: Properties): Properties => {
    if (!state.__secret) return state;
    const repeated = own.outputNames.filter((key) => isSecretValue(state[key]));
    return { ...state, ...Object.fromEntries(repeated.map((key) => [key, seal(state[key])])) };
  };
  return {
    ...own,
    check: async (olds, news) =>
      keepingSecret([secretsIn(olds), secretsIn(news)], async () => {
        const { inputs, failures } = await own.check(olds, news);
        return { inputs, failures: failures.map((fault) => ({ ...fault, reason: masked(fault.reason) })) };
      }),
    diff: async (id, olds, news) =>
      keepingSecret([secretsIn(olds), secretsIn(news)], () => own.diff(id, olds, news)),
    create: async (inputs, call) =>
      keepingSecret([secretsIn(inputs)], async () => {
        const { id, outs } = await own.create(inputs, call);
        return { id, outs: sealed(outs) };
      }),
    read: async (id, properties = {}) =>
      keepingSecret([secretsIn(properties)], async () => {
        const read = await own.read(id, properties);
        return { ...read, props: sealed(read.props) };
      }),
    update: async (id, olds, news, call) =>
      keepingSecret([secretsIn(olds), secretsIn(news)], async () => ({
        outs: sealed((await own.update(id, olds, news, call)).outs),
      })),
    delete: async (id, properties) =>
      keepingSecret([secretsIn(properties)], () => own.delete(id, properties)),
  };
}

function secretsIn(properties: Properties): Properties {
  refuseMalformed(properties);
  const names = properties.__secret ?? [];
  return Object.fromEntries(names.map((name) => [name, properties[name]]));
}
