import { credentials, type ServiceError } from "@grpc/grpc-js";
import { ResourceMonitorClient } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  RegisterResourceOutputsRequest,
  type RegisterResourceRequest,
  type RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";

/** The engine's side that takes the resources of a program. */
export interface Monitor {
  /** Resolves when the resource is in the state; in a preview, when it is known what becomes of it. */
  register(registration: RegisterResourceRequest): Promise<RegisterResourceResponse>;
  /** Says that a component is complete. */
  registerOutputs(urn: string, outputs: Struct): Promise<void>;
}

const monitors = new Map<string, Monitor>();

/** The monitor at an address. */
export function monitorAt(address: string): Monitor {
  const monitor = monitors.get(address) ?? connectTo(address);
  monitors.set(address, monitor);
  return monitor;
}

function connectTo(address: string): Monitor {
  const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
  const client = new ResourceMonitorClient(address, credentials.createInsecure(), unlimited);
  const answer = <T>(send: (callback: (error: ServiceError | null, reply: T) => void) => void) =>
    new Promise<T>((resolve, reject) => {
      send((error, reply) => (error ? reject(new Error(error.details)) : resolve(reply)));
    });
  return {
    register: (registration) => answer((callback) => client.registerResource(registration, callback)),
    async registerOutputs(urn, outputs) {
      const request = new RegisterResourceOutputsRequest();
      request.setUrn(urn);
      request.setOutputs(outputs);
      await answer((callback) => client.registerResourceOutputs(request, callback));
    },
  };
}
