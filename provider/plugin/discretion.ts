import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { maskingSecrets } from "../run/secrecy";
import type { Properties } from "../run/state-entry";
import { fromStruct, secretsIn } from "./values";

/** Getters of requests that return properties. */
const propertyGetters = ["getNews", "getOlds", "getProperties", "getInputs", "getArgs"];

/** Handles a request, and masks the secrets in it and in the configuration in errors and messages. */
export function withMaskedSecrets<Request extends object, Reply>(
  request: Request,
  work: (request: Request) => Promise<Reply>,
  configurationSecrets: Properties = {},
): Promise<Reply> {
  const getters = request as Record<string, (() => Struct | undefined) | undefined>;
  const secrets = propertyGetters.map((getter) => secretsIn(fromStruct(getters[getter]?.call(request))));
  return maskingSecrets([configurationSecrets, ...secrets], () => work(request));
}
