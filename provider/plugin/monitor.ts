import { credentials, type ServiceError } from "@grpc/grpc-js";
import { ResourceMonitorClient } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  RegisterResourceOutputsRequest,
  type RegisterResourceRequest,
  type RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";

/** Resource monitor of the engine, where programs register resources. */
export type Monitor = ReturnType<typeof connectTo>;

const monitors = new Map<string, Monitor>();

/** Returns the monitor at an address. */
export function monitorAt(address: string): Monitor {
  const monitor = monitors.get(address) ?? connectTo(address);
  monitors.set(address, monitor);
  return monitor;
}

function connectTo(address: string) {
  const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
  const client = new ResourceMonitorClient(address, credentials.createInsecure(), unlimited);
  const call = <T>(send: (callback: (error: ServiceError | null, reply: T) => void) => void) =>
    new Promise<T>((resolve, reject) => {
      send((error, reply) => (error ? reject(new Error(error.details)) : resolve(reply)));
    });
  return {
    /** Registers a resource. Resolves when the resource is in the state or, in a preview, when its change is known. */
    register: (registration: RegisterResourceRequest): Promise<RegisterResourceResponse> =>
      call((callback) => client.registerResource(registration, callback)),
    /** Registers the outputs of a component, which completes it. */
    async registerOutputs(urn: string, outputs: Struct): Promise<void> {
      const request = new RegisterResourceOutputsRequest();
      request.setUrn(urn);
      request.setOutputs(outputs);
      await call((callback) => client.registerResourceOutputs(request, callback));
    },
  };
}
