import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  RegisterResourceOutputsRequest,
  type RegisterResourceRequest,
  type RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { connectToEngine } from "./engine-calls";

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
  const call = connectToEngine(address);
  return {
    /** Registers a resource. Resolves when the resource is in the state or, in a preview, when its change is known. */
    register: (registration: RegisterResourceRequest): Promise<RegisterResourceResponse> =>
      call(ResourceMonitorService.registerResource, registration),
    /** Registers the outputs of a component, which completes it. */
    async registerOutputs(urn: string, outputs: Struct): Promise<void> {
      const request = new RegisterResourceOutputsRequest();
      request.setUrn(urn);
      request.setOutputs(outputs);
      await call(ResourceMonitorService.registerResourceOutputs, request);
    },
  };
}
