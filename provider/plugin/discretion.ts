import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { maskingSecrets } from "../run/secrecy";
import type { Properties } from "../run/state-entry";
import { fromStruct, secretsIn } from "./values";

/** Where requests hold properties. */
const places = ["getNews", "getOlds", "getProperties", "getInputs", "getArgs"];

/** Answers a request; what is sealed in it or in the configuration is neither in an error nor in what is said meanwhile. */
export function discreetly<Request extends object, Reply>(
  request: Request,
  work: (request: Request) => Promise<Reply>,
  ofConfiguration: Properties = {},
): Promise<Reply> {
  const getters = request as Record<string, (() => Struct | undefined) | undefined>;
  const secrets = places.map((place) => secretsIn(fromStruct(getters[place]?.call(request))));
  return maskingSecrets([ofConfiguration, ...secrets], () => work(request));
}
