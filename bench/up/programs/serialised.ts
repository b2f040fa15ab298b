import * as pulumi from "@pulumi/pulumi";

interface Inputs {
  readonly name: string;
  readonly numShards: number;
}

/** Returns a token for the path. Tokens are cached, because each is valid for one scope. */
const tokens: Record<string, string> = {};

async function tokenFor(path: string): Promise<string> {
  if (!tokens[path]) {
    const form = {
      grant_type: "client_credentials",
      client_id: process.env.RECOMMENDER_CLIENT_ID as string,
      client_secret: process.env.RECOMMENDER_CLIENT_SECRET as string,
      scope: path,
    };
    const answer = await fetch(process.env.RECOMMENDER_TOKEN_URL as string, {
      method: "POST",
      body: new URLSearchParams(form),
    });
    if (!answer.ok) throw new Error(`token for ${path}: ${answer.status} ${await answer.text()}`);
    tokens[path] = ((await answer.json()) as { access_token: string }).access_token;
  }
  return tokens[path];
}

async function call(method: string, path: string, input: Record<string, unknown>) {
  const query = method === "GET" ? `?${new URLSearchParams(input as Record<string, string>)}` : "";
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(`${process.env.RECOMMENDER_BASE_URL}${path}${query}`, {
      method,
      headers: {
        apikey: process.env.RECOMMENDER_API_KEY as string,
        authorization: `Bearer ${await tokenFor(path)}`,
        "content-type": "application/json",
      },
      body: method === "GET" ? null : JSON.stringify(input),
    });
    if (answer.ok) return answer.json() as Promise<Record<string, unknown>>;
    const text = await answer.text();
    if (answer.status < 500 || attempt === 5) {
      throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${text}`), {
        status: answer.status,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt));
  }
}

/** An event dataset as an ordinary dynamic provider. The engine stores its closures in the state. */
const provider: pulumi.dynamic.ResourceProvider<Inputs> = {
  async check(_olds, news) {
    const failures = [];
    if (!news.name) failures.push({ property: "name", reason: "must not be empty" });
    if (!(news.numShards >= 1)) failures.push({ property: "numShards", reason: "must be at least 1" });
    return { inputs: news, failures };
  },
  async diff(_id, olds, news) {
    const replaces = olds.numShards === news.numShards ? [] : ["numShards"];
    return { changes: replaces.length > 0 || olds.name !== news.name, replaces };
  },
  async create({ name, numShards }) {
    const reply = await call("POST", "/create-event-dataset", { name, num_shards: numShards });
    return { id: String(reply.event_dataset_id), outs: { name, numShards } };
  },
  async read(id) {
    try {
      const reply = await call("GET", "/get-event-dataset", { event_dataset_id: id });
      const props = { name: String(reply.name), numShards: Number(reply.num_shards) };
      return { id, props, inputs: props };
    } catch (error) {
      if ((error as { status?: number }).status === 404) return { id: "" };
      throw error;
    }
  },
  async update(id, _olds, { name, numShards }) {
    await call("PUT", "/update-event-dataset", { event_dataset_id: id, name, attribute_schema: null });
    return { outs: { name, numShards } };
  },
  async delete(id) {
    try {
      await call("DELETE", "/delete-event-dataset", { event_dataset_id: id });
    } catch (error) {
      if ((error as { status?: number }).status !== 404) throw error;
    }
  },
};

class EventDataset extends pulumi.dynamic.Resource {
  constructor(name: string, args: Inputs) {
    super(provider, name, args);
  }
}

for (let n = 0; n < Number(process.env.BENCH_COUNT); n++) {
  new EventDataset(`events${n}`, { numShards: 1, name: (n === 0 && process.env.BENCH_NAME) || `events${n}` });
}
