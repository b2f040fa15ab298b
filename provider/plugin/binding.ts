import type * as engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb";
import type * as engine from "@pulumi/pulumi/proto/engine_pb";
import { type Severity, setBinding, type Urn } from "../run/engine";
import { connectToEngine } from "./engine-calls";

const levels = { debug: "DEBUG", info: "INFO", warn: "WARNING" } as const;

let address: string | undefined;
let send: ((request: engine.LogRequest) => Promise<void>) | undefined;
/** Resolves when the last message is sent. Each message waits for the previous one, to keep their order. */
let last: Promise<void> = Promise.resolve();

/** Sets the address of the engine, which the engine passes to the plugin. */
export function setEngineAddress(engineAddress: string | undefined): void {
  if (engineAddress === address) return;
  address = engineAddress;
  send = undefined;
}

setBinding({ connect: () => {}, engineAddress: () => address, log });

function log(severity: Severity, message: string, urn: Urn, isEphemeral: boolean): Promise<void> {
  if (!address) return Promise.resolve();
  const { LogRequest, LogSeverity } = require("@pulumi/pulumi/proto/engine_pb") as typeof engine;
  const request = new LogRequest();
  request.setSeverity(LogSeverity[levels[severity]]);
  request.setMessage(message);
  request.setUrn(urn ?? "");
  request.setEphemeral(isEphemeral);
  send ??= connectTo(address);
  const sent = send;
  last = last.then(() => sent(request));
  return last;
}

/** Connects to the engine. The definition is loaded on demand, because most runs without changes log nothing. */
function connectTo(engineAddress: string): (request: engine.LogRequest) => Promise<void> {
  const { EngineService } = require("@pulumi/pulumi/proto/engine_grpc_pb") as typeof engineGrpc;
  const call = connectToEngine(engineAddress);
  // If the engine has exited, the message is lost, but logging must not fail.
  return (request) => call(EngineService.log, request).then(undefined, () => undefined) as Promise<void>;
}
