import { Metadata, type StatusObject, status } from "@grpc/grpc-js";
import type * as provider from "@pulumi/pulumi/proto/provider_pb";
import type * as statuses from "@pulumi/pulumi/proto/status_pb";
import type * as anything from "google-protobuf/google/protobuf/any_pb";
import { PartialStateError } from "../lifecycle/failure";
import { toStruct } from "./values";

/** Something was asked for that the plugin does not have. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** An error as the engine takes it; one after which a part of the state is to be kept carries that part. */
export function failureOf(error: Error): Partial<StatusObject> {
  const code = error instanceof NotFoundError ? status.NOT_FOUND : status.UNKNOWN;
  // Half a character, as where a text was cut, cannot be sent.
  const failure = { code, details: Buffer.from(error.message).toString() };
  return error instanceof PartialStateError ? { ...failure, metadata: keeping(error) } : failure;
}

function keeping({ id, properties, reasons, message }: PartialStateError): Metadata {
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
