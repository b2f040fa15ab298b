import { type ChildProcess, fork } from "node:child_process";
import { on } from "node:events";
import { join } from "node:path";
import { type Service, type StartOptions, startService } from "../../service";

let child: ChildProcess | undefined;
let asked = 0;
afterAll(() => child?.disconnect());

/** Starts a service in another process, or in this one if it needs the clock or the log of the test. */
export async function startElsewhere(options: StartOptions): Promise<Pick<Service, "url" | "key" | "close">> {
  if (options.clock || typeof options.log === "object") return startService(options);
  child ??= fork(join(__dirname, "api-process.js"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const id = ++asked;
  const { url } = await ask(child, { id, options });
  return {
    url,
    key: String(options.key),
    close: async () => void (await ask(child as ChildProcess, { id })),
  };
}

async function ask(
  process: ChildProcess,
  message: { id: number; options?: StartOptions },
): Promise<{ url: string }> {
  const answers = on(process, "message", { close: ["exit"] });
  process.send(message);
  for await (const [answer] of answers) {
    if (answer.id !== message.id) continue;
    if (answer.error) throw new Error(answer.error);
    return answer;
  }
  throw new Error("the other process has ended");
}
