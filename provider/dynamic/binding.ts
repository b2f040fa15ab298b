import type { Http2Server, IncomingHttpHeaders } from "node:http2";
import * as pulumi from "@pulumi/pulumi";
import { cancel } from "../run/cancellation";
import { type Binding, engineAddressIn, setBinding, type Urn } from "../run/engine";

/** Binding that uses the Pulumi SDK, in a program and in the process of its dynamic provider. */
const dynamicBinding: Binding = {
  /**
   * Passes the engine's address to the SDK. The SDK's dynamic provider does not do that, so messages would have no
   * severity and no resource.
   */
  connect() {
    const address = dynamicBinding.engineAddress();
    if (!address) return;
    listenForCancel();
    pulumi.runtime.resetOptions(pulumi.getProject(), pulumi.getStack(), -1, address, "", false, "");
  },

  engineAddress() {
    const [, script, ...args] = process.argv;
    return script?.includes("dynamic-provider") ? engineAddressIn(args) : undefined;
  },

  log: (severity, message, urn, isEphemeral) =>
    pulumi.log[severity](message, resourceAt(urn), undefined, isEphemeral),
};

setBinding(dynamicBinding);

/** Returns a resource with this URN, which is all that the log needs. */
function resourceAt(urn: Urn): pulumi.Resource | undefined {
  return urn ? ({ urn: pulumi.output(urn) } as pulumi.Resource) : undefined;
}

const cancelPath = "/pulumirpc.ResourceProvider/Cancel";
const listening = new WeakSet<object>();

/**
 * Listens for the engine's request to cancel. The SDK's dynamic provider does not pass that request on, and its process
 * receives no signal, so this code watches the requests to the provider's server. If no server is found, waits continue
 * until their jobs have ended.
 */
function listenForCancel(): void {
  for (const server of activeHandles().filter(isHttp2Server)) {
    if (listening.has(server)) continue;
    listening.add(server);
    server.on("stream", (_stream: unknown, headers: IncomingHttpHeaders) => {
      if (headers[":path"] === cancelPath) cancel();
    });
  }
}

function activeHandles(): readonly object[] {
  return (process as { _getActiveHandles?(): object[] })._getActiveHandles?.() ?? [];
}

function isHttp2Server(handle: object): handle is Http2Server {
  return handle.constructor.name === "Http2Server";
}
