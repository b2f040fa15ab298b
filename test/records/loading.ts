import { resolve } from "node:path";
import { type RouteName, routes } from "../../contract";
import { type RecordKindName, recordKinds } from "../../records/kind";
import { contentHash, findFiles } from "../../records/source";
import { type Upload, upload } from "../../records/upload";
import { ObservedService } from "../engine/observed-service";
import { Folder } from "./folder";

/** A service and a folder, and uploads from the one into the other. */
export class Loading {
  readonly folder = new Folder();

  private constructor(readonly observed: ObservedService) {}

  static async start(): Promise<Loading> {
    return new Loading(await ObservedService.start({ faults: true }));
  }

  /** A new dataset. */
  async dataset(kind: RecordKindName, numShards = 1): Promise<string> {
    const noun = { users: "User", items: "Item", events: "Event" }[kind];
    const route = routes[`create${noun}Dataset` as RouteName & "createUserDataset"];
    const reply: Record<string, unknown> = await this.observed.call(route, { name: kind, numShards });
    return reply[`${noun.toLowerCase()}DatasetId`] as string;
  }

  /** Uploads a file as a resource or a command would, and tells what came of it and how many calls it took. */
  async upload(kind: RecordKindName, datasetId: string, source: string, more: Partial<Upload> = {}) {
    const files = await findFiles(source);
    const mapping = more.mapping ?? {};
    this.observed.calls();
    const totals = await upload({
      client: this.observed.client,
      kind: recordKinds[kind],
      datasetId,
      files,
      mapping,
      contentHash: await contentHash(files, mapping),
      owner: resolve(source),
      rejectsFile: this.rejectsFile,
      maxFailures: 0,
      parallel: 8,
      ...more,
    });
    return { ...totals, calls: this.upserts() };
  }

  /** A name for what a file holds now. */
  async hash(source: string): Promise<string> {
    return contentHash(await findFiles(source), {});
  }

  get rejectsFile(): string {
    return resolve(this.folder.path, "rejects.ndjson");
  }

  /** How many upserts the service saw since this was last asked. */
  upserts(): number {
    return this.observed.calls().filter((call) => call.includes("/upsert-dataset-")).length;
  }

  /** How many records the service says it holds. */
  async held(datasetId: string): Promise<number> {
    const headers = { apikey: this.observed.service.key };
    const answer = await fetch(`${this.observed.service.url}/status`, { headers });
    const { datasets } = (await answer.json()) as { datasets: { id: string; records: number }[] };
    return datasets.find(({ id }) => id === datasetId)?.records ?? 0;
  }

  async end(): Promise<void> {
    await this.observed.close();
    this.folder.remove();
  }
}

/** Users, one per line, from a number to before another. */
export function userLines(from: number, to: number, attributes: object = {}): string {
  return Array.from(
    { length: to - from },
    (_, at) => `${JSON.stringify({ user_id: `u${from + at}`, attributes })}\n`,
  ).join("");
}
