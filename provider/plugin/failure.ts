import { Metadata, type StatusObject, status } from "@grpc/grpc-js";
import type * as provider from "@pulumi/pulumi/proto/provider_pb";
import type * as statuses from "@pulumi/pulumi/proto/status_pb";
import type * as anything from "google-protobuf/google/protobuf/any_pb";
import { PartialStateError } from "../lifecycle/failure";
import { toStruct } from "./values";

/** Error for a requested type or function that the plugin does not have. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** Converts an error to the engine's format. A PartialStateError includes the state to store. */
export function failureOf(error: Error): Partial<StatusObject> {
  const code = error instanceof NotFoundError ? status.NOT_FOUND : status.UNKNOWN;
  // Truncated text may end in half a surrogate pair, which cannot be sent.
  const failure = { code, details: Buffer.from(error.message).toString() };
  return error instanceof PartialStateError ? { ...failure, metadata: partialState(error) } : failure;
}

function partialState({ id, properties, reasons, message }: PartialStateError): Metadata {
  const { ErrorResourceInitFailed } = require("@pulumi/pulumi/proto/provider_pb") as typeof provider;
  const { Status } = require("@pulumi/pulumi/proto/status_pb") as typeof statuses;
  const { Any } = require("google-protobuf/google/protobuf/any_pb") as typeof anything;
  const detail = new ErrorResourceInitFailed();
  detail.setId(id);
  detail.setProperties(toStruct(properties));
  detail.setReasonsList(reasons);
  const packed = new Any();
  packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const whole = new Status();
  whole.setCode(status.UNKNOWN);
  whole.setMessage(message);
  whole.addDetails(packed);
  const metadata = new Metadata();
  metadata.add("grpc-status-details-bin", Buffer.from(whole.serializeBinary()));
  return metadata;
}
