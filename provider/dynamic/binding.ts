import type { Http2Server, IncomingHttpHeaders } from "node:http2";
import * as pulumi from "@pulumi/pulumi";
import { cancel } from "../run/cancellation";
import { type Binding, setBinding, type Urn } from "../run/engine";

/** The SDK, in a program and in the process of its dynamic provider. */
const dynamicBinding: Binding = {
  /**
   * The process of a dynamic provider gets the engine's address but does not pass it to the SDK, so that messages would
   * come out as text of no severity and of no resource.
   */
  connect() {
    const address = dynamicBinding.engineAddress();
    if (!address) return;
    listenForCancel();
    pulumi.runtime.resetOptions(pulumi.getProject(), pulumi.getStack(), -1, address, "", false, "");
  },

  engineAddress() {
    const [, script, ...args] = process.argv;
    // With --logflow, options for the log come before it.
    return script?.includes("dynamic-provider") ? args.find((arg) => /:\d+$/.test(arg)) : undefined;
  },

  log: (severity, message, urn, isEphemeral) =>
    pulumi.log[severity](message, named(urn), undefined, isEphemeral),
};

setBinding(dynamicBinding);

/** The log needs a resource only for its URN. */
function named(urn: Urn): pulumi.Resource | undefined {
  return urn ? ({ urn: pulumi.output(urn) } as pulumi.Resource) : undefined;
}

const cancelPath = "/pulumirpc.ResourceProvider/Cancel";
const listening = new WeakSet<object>();

/**
 * Listens for the engine's request to stop. The SDK's dynamic provider answers it without telling the code that it
 * runs, and no signal reaches its process; so the request is looked for among those that its server gets. Where that
 * server is not found, waits go on until their jobs are over.
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
