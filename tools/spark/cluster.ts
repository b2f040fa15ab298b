import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { pythonFor } from "../../bench/quality/cache";

/** A standalone Spark cluster on this machine. */
export interface Cluster {
  readonly master: string;
  /** The number of workers that have run an executor. */
  used(): number;
  stop(): void;
}

/** Starts a cluster, and returns it with the command that trains on it, for `recommender serve --trainer`. */
export async function startSpark(directory: string): Promise<Cluster & { readonly trainer: string }> {
  checkJava();
  const example = join(__dirname, "..", "..", "examples", "trainer-spark");
  const python = pythonFor("spark", join(example, "requirements.txt"));
  const cluster = await startCluster(python, directory);
  Object.assign(process.env, {
    SPARK_MASTER: cluster.master,
    SPARK_LOCAL_IP: "127.0.0.1",
    PYSPARK_PYTHON: python,
  });
  return { ...cluster, trainer: `'${python}' '${join(example, "train.py")}'` };
}

/** Throws if there is no Java version that Spark supports. */
function checkJava(): void {
  const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, "bin", "java") : "java";
  const { stderr = "" } = spawnSync(java, ["-version"], { encoding: "utf8" });
  const version = Number(/version "(\d+)/.exec(stderr ?? "")?.[1] ?? 0);
  if (version >= 17) return;
  const found = version === 0 ? `${java} cannot be run` : `${java} is version ${version}`;
  throw new Error(
    `npm run test:spark needs Java 17 or newer, but ${found}. Install it (on Debian and Ubuntu: ` +
      "apt-get install openjdk-17-jre-headless), or set JAVA_HOME to where it is.",
  );
}

/** Starts a master and two workers with one core each, and waits until the workers are registered. */
async function startCluster(python: string, directory: string): Promise<Cluster> {
  const found = execFileSync(python, ["-c", "import pyspark; print(pyspark.__file__)"], { encoding: "utf8" });
  const home = dirname(found.trim());
  const port = await freePort();
  const master = `spark://127.0.0.1:${port}`;
  const processes: ChildProcess[] = [];
  const start = async (ready: RegExp, name: string, ...args: string[]) => {
    const child = spawn(join(home, "bin", "spark-class"), [`org.apache.spark.deploy.${name}`, ...args], {
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
      env: { ...process.env, SPARK_HOME: home, SPARK_LOCAL_IP: "127.0.0.1", PYSPARK_PYTHON: python },
    });
    processes.push(child);
    await new Promise<void>((resolve, reject) => {
      let said = "";
      child.stderr?.on("data", (text) => {
        said = (said + text).slice(-20_000);
        if (ready.test(said)) resolve();
      });
      child.once("exit", (code) => reject(new Error(`${name} exited with code ${code}:\n${said}`)));
    });
  };
  const stop = () => {
    for (const { pid, exitCode } of processes) if (pid && exitCode === null) process.kill(-pid, "SIGKILL");
  };
  const places = ["one", "two"].map((name) => join(directory, name));
  const ui = ["--webui-port", "0"];
  try {
    await start(/New state: ALIVE/, "master.Master", "--host", "127.0.0.1", "--port", String(port), ...ui);
    for (const place of places) {
      mkdirSync(place, { recursive: true });
      const size = ["--cores", "1", "--memory", "1g", "--work-dir", place];
      await start(/Successfully registered/, "worker.Worker", master, "--host", "127.0.0.1", ...ui, ...size);
    }
  } catch (error) {
    stop();
    throw error;
  }
  const used = () => places.filter((place) => existsSync(place) && readdirSync(place).length > 0).length;
  return { master, used, stop };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
