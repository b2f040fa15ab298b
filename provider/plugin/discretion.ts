import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { maskingSecrets } from "../run/secrecy";
import type { Properties } from "../run/state-entry";
import { fromStruct, secretsIn } from "./values";

/** Request getters that return properties. */
const propertyGetters = ["getNews", "getOlds", "getProperties", "getInputs", "getArgs"];

/** Handles a request. Masks the secrets of the request and of the configuration in messages and errors. */
export function withMaskedSecrets<Request extends object, Reply>(
  request: Request,
  work: (request: Request) => Promise<Reply>,
  configurationSecrets: Properties = {},
): Promise<Reply> {
  const getters = request as Record<string, (() => Struct | undefined) | undefined>;
  const secrets = propertyGetters.map((getter) => secretsIn(fromStruct(getters[getter]?.call(request))));
  return maskingSecrets([configurationSecrets, ...secrets], () => work(request));
}
