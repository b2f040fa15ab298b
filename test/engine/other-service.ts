import { randomInt } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

type Body = Record<string, unknown>;

interface Job {
  readonly record: Body;
  readonly result: Body;
  looks: number;
}

/** Error of this service. */
class Refused extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
  ) {
    super(detail);
  }
}

/**
 * Recommendation service that makes different choices where the specification allows them: numbers as ids, ids
 * of all datasets under `user_dataset_id`, different job statuses, problem details as errors, extra keys everywhere,
 * 201 and 204, lists in pages of two, and no idempotency keys.
 */
export class OtherService {
  readonly calls: string[] = [];
  readonly eventDatasets = new Map<string, Body>();
  readonly models = new Map<string, Body>();
  readonly jobs = new Map<string, Job>();
  deployed: Body | undefined;
  readonly #server = createServer((request, response) => this.#answer(request, response));

  async start(): Promise<Record<string, string>> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return {
      RECOMMENDER_BASE_URL: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v7/api`,
      RECOMMENDER_API_KEY: "other-key",
      RECOMMENDER_TOKEN_COMMAND: "echo token-for$RECOMMENDER_SCOPE",
      RECOMMENDER_JOB_POLL_MS: "20",
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://other");
    const path = url.pathname.replace("/v7/api", "");
    this.calls.push(`${request.method} ${path}`);
    try {
      if (request.headers.authorization !== `Bearer token-for${path}`) throw new Refused(401, "wrong scope");
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const raw = Buffer.concat(chunks);
      const text = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
      const body = raw.length > 0 ? JSON.parse(text.toString()) : Object.fromEntries(url.searchParams);
      const reply = this.#carryOut(path, body);
      if (reply === undefined) response.writeHead(204).end();
      else this.#send(response, path.includes("create") ? 201 : 200, { ...reply, api_version: 7, trace: {} });
    } catch (error) {
      const { status = 500, detail = String(error) } = error as Partial<Refused>;
      this.#send(response, status, { type: "https://other.example/problems", title: "Problem", detail });
    }
  }

  #send(response: ServerResponse, status: number, body: Body): void {
    response.writeHead(status, { "content-type": "application/vnd.other+json" }).end(JSON.stringify(body));
  }

  #carryOut(path: string, body: Body): Body | undefined {
    const id = String(randomInt(1e9));
    switch (path) {
      case "/create-user-dataset":
      case "/create-item-dataset":
        return { user_dataset_id: id };
      case "/create-event-dataset":
        this.eventDatasets.set(id, { user_dataset_id: id, ...body });
        return { user_dataset_id: id };
      case "/update-event-dataset":
        this.eventDatasets.set(String(body.event_dataset_id), { ...this.#dataset(body), name: body.name });
        return this.#dataset(body);
      case "/get-event-dataset":
        return this.#dataset(body);
      case "/list-event-datasets":
        return { event_datasets: [...this.eventDatasets.values()].slice(0, 2), next_page: "2" };
      case "/delete-event-dataset":
        this.#dataset(body);
        this.eventDatasets.delete(String(body.event_dataset_id));
        return undefined;
      case "/create-project":
        return { project_id: id, serving_uri: "recommender://not-an-http-address" };
      case "/create-algorithm":
        return { algorithm_id: id };
      case "/submit-training-job": {
        const model = { project_id: body.project_id, model_id: `m${id}`, name: body.name };
        return this.#submit(id, body, { model_id: model.model_id }, () =>
          this.models.set(model.model_id, model),
        );
      }
      case "/submit-deployment-job":
        return this.#submit(id, body, {}, () => {
          this.deployed = body;
        });
      case "/get-job":
        return this.#job(String(body.job_id));
      case "/get-model":
        return this.#model(body);
      case "/list-models":
        return { models: [...this.models.values()].slice(0, 1) };
      case "/update-model":
        return Object.assign(this.#model(body), { name: body.name });
      case "/delete-model":
        if (this.deployed?.generator_model_id === body.model_id) throw new Refused(400, "model is live");
        this.#model(body);
        this.models.delete(String(body.model_id));
        return undefined;
      case "/shutdown-deployment":
        this.deployed = undefined;
        return undefined;
      case "/recommend-items-to-user":
        if (!this.deployed) throw new Refused(422, "no live model");
        return { results: [{ item: { item_id: "i1" }, score: 0.5 }] };
      default:
        throw new Refused(404, `no ${path} here`);
    }
  }

  #dataset(body: Body): Body {
    const found = this.eventDatasets.get(String(body.event_dataset_id));
    if (!found) throw new Refused(400, "dataset does not exist");
    return found;
  }

  #model(body: Body): Body {
    const found = this.models.get(String(body.model_id));
    if (!found) throw new Refused(400, "no such model");
    return found;
  }

  #submit(id: string, body: Body, result: Body, done: () => void): Body {
    done();
    this.jobs.set(id, { record: { job_id: id, job_data: body }, result, looks: 0 });
    return { job_id: id, queue_position: 4 };
  }

  /** A job is queued at the first poll, running at the second, and succeeded at the third. */
  #job(id: string): Body {
    const job = this.jobs.get(id);
    if (!job) throw new Refused(404, "no such job");
    job.looks++;
    const status = ["QUEUED", "IN_PROGRESS", "SUCCEED"][Math.min(job.looks, 3) - 1];
    return { ...job.record, job_status: status, ...(job.looks >= 3 && { job_result: job.result }) };
  }
}
