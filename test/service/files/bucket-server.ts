import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { provideBucketServer, whyUnavailable } from "../../../tools/engine/provide.js";

/** Silences the SDK's warning about future Node versions, which is irrelevant for these tests. */
const quiet = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" };

const key = { AWS_ACCESS_KEY_ID: "tester", AWS_SECRET_ACCESS_KEY: "a secret of the tests" };

/** The reason why this machine has no S3 server, or undefined if it has one. */
export const withoutBucketServer = whyUnavailable("bucket-server");

/** S3-compatible storage in a separate process. */
export class BucketServer {
  private made = 0;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    private readonly directory: string,
  ) {}

  /** Starts the storage. A file size limit simulates a full disk. */
  static async start({ fileKilobytes }: { fileKilobytes?: number } = {}): Promise<BucketServer> {
    const { bin } = await provideBucketServer();
    const directory = mkdtempSync(join(tmpdir(), "buckets-"));
    mkdirSync(join(directory, "data"));
    const port = await freePort();
    const limit = fileKilobytes === undefined ? "" : `ulimit -f ${fileKilobytes}; `;
    const options = ["--access", key.AWS_ACCESS_KEY_ID, "--secret", key.AWS_SECRET_ACCESS_KEY];
    const place = ["--region", "us-east-1", "--port", `127.0.0.1:${port}`, "--quiet"];
    const child = spawn(
      "bash",
      [
        "-c",
        `${limit}exec "$0" "$@"`,
        join(bin, "versitygw"),
        ...options,
        ...place,
        "posix",
        join(directory, "data"),
      ],
      { stdio: "ignore" },
    );
    const url = `http://127.0.0.1:${port}`;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`the S3 server ended with ${child.exitCode}`);
      if (await fetch(url).catch(() => undefined)) return new BucketServer(child, url, directory);
      await sleep(20);
    }
  }

  /** Environment variables for programs that use the storage. */
  get environment(): Record<string, string> {
    return { ...key, AWS_ENDPOINT_URL_S3: this.url, AWS_EC2_METADATA_DISABLED: "true", ...quiet };
  }

  /** Lets this process use the storage until the tests of the file end. */
  use(): void {
    Object.assign(process.env, this.environment);
  }

  /** Creates a bucket and returns the address of a prefix in it. */
  newBucket(): string {
    const name = `bucket-${++this.made}`;
    mkdirSync(join(this.directory, "data", name));
    return `s3://${name}/some/prefix`;
  }

  async stop(): Promise<void> {
    this.child.kill();
    await once(this.child, "exit");
    rmSync(this.directory, { recursive: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
