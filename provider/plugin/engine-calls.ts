import { Client, credentials, type MethodDefinition, type ServiceError } from "@grpc/grpc-js";

type Method<Request, Reply> = Pick<
  MethodDefinition<Request, Reply>,
  "path" | "requestSerialize" | "responseDeserialize"
>;

/** Sends a request to the engine and resolves with the reply. */
export type EngineCall = <Request, Reply>(method: Method<Request, Reply>, request: Request) => Promise<Reply>;

/**
 * Connects to a server of the engine. The clients of `@pulumi/pulumi` are not used, because it may be installed with a
 * separate copy of grpc-js, which rejects the credentials of ours.
 */
export function connectToEngine(address: string): EngineCall {
  const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
  const client = new Client(address, credentials.createInsecure(), unlimited);
  return <Request, Reply>(
    { path, requestSerialize, responseDeserialize }: Method<Request, Reply>,
    request: Request,
  ) =>
    new Promise<Reply>((resolve, reject) => {
      const settle = (error: ServiceError | null, reply?: unknown) =>
        error ? reject(new Error(error.details)) : resolve(reply as Reply);
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, settle);
    });
}
