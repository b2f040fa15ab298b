import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import type * as engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb";
import type * as engine from "@pulumi/pulumi/proto/engine_pb";
import type * as empty from "google-protobuf/google/protobuf/empty_pb";
import { connectToEngine } from "../../../provider/plugin/engine-calls";

/** Loads modules with another copy of grpc-js than the one that this test imports. */
function withOtherCopy() {
  let copy: typeof engineGrpc & typeof engine & typeof empty;
  jest.isolateModules(() => {
    copy = {
      ...require("google-protobuf/google/protobuf/empty_pb"),
      ...require("@pulumi/pulumi/proto/engine_pb"),
      ...require("@pulumi/pulumi/proto/engine_grpc_pb"),
    };
  });
  // @ts-expect-error: assigned, because `isolateModules` runs the function at once
  return copy;
}

test("the engine is called even if @pulumi/pulumi is installed with a grpc-js of its own", async () => {
  const { EngineClient, EngineService, LogRequest, Empty } = withOtherCopy();
  // Otherwise this test would prove nothing.
  expect(() => new EngineClient("127.0.0.1:1", credentials.createInsecure())).toThrow("ChannelCredentials");

  const logged: string[] = [];
  const server = new Server();
  server.addService(EngineService, {
    log: (
      { request }: { request: engine.LogRequest },
      callback: (error: null, reply: empty.Empty) => void,
    ) => {
      logged.push(request.getMessage());
      callback(null, new Empty());
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const request = new LogRequest();
  request.setMessage("hello");
  await connectToEngine(`127.0.0.1:${port}`)(EngineService.log, request);
  expect(logged).toEqual(["hello"]);
  server.forceShutdown();
});
