import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type RouteName, routes } from "../../contract";
import { type RecordKindName, recordKinds } from "../../records/kind";
import { LastWriter } from "../../records/last-writer";
import { contentHash, findFiles } from "../../records/source";
import { upload } from "../../records/upload";
import type { UploadOptions } from "../../records/upload-options";
import { dataDirectoryAt } from "../../service";
import { connect } from "../../service/store/database";
import { ObservedService } from "../engine/observed-service";
import { TestDirectory } from "./test-directory";

/** Service and a directory with sources to upload to it. */
export class Loading {
  readonly directory = new TestDirectory();

  private constructor(readonly observed: ObservedService) {}

  static async start(): Promise<Loading> {
    return new Loading(await ObservedService.start({ faults: true }));
  }

  /** Creates a dataset and returns its id. */
  async dataset(kind: RecordKindName, numShards = 1): Promise<string> {
    const definition = { users: "User", items: "Item", events: "Event" }[kind];
    const route = routes[`create${definition}Dataset` as RouteName & "createUserDataset"];
    const reply: Record<string, unknown> = await this.observed.call(route, { name: kind, numShards });
    return reply[`${definition.toLowerCase()}DatasetId`] as string;
  }

  /** Uploads a file like a resource or a command. Returns the result and the number of upsert calls. */
  async upload(kind: RecordKindName, datasetId: string, source: string, more: Partial<UploadOptions> = {}) {
    const files = await findFiles(source);
    const mapping = more.mapping ?? {};
    this.observed.calls();
    const { client } = this.observed;
    const { token, ...totals } = await upload({
      client,
      history: { recorded: new LastWriter(more.client ?? client, datasetId).token },
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
    return { ...totals, token, calls: this.upserts() };
  }

  /** Edits the upload journals of this machine. */
  rewriteJournals(edit: (text: string) => string): void {
    const directory = join(process.env.XDG_STATE_HOME as string, "pulumi-recommender", "uploads");
    for (const name of readdirSync(directory).filter((name) => name.endsWith(".journal"))) {
      writeFileSync(join(directory, name), edit(readFileSync(join(directory, name), "utf8")));
    }
  }

  /** Returns the content hash of a source. */
  async hash(source: string): Promise<string> {
    return contentHash(await findFiles(source), {});
  }

  get rejectsFile(): string {
    return resolve(this.directory.path, "rejects.ndjson");
  }

  /** Returns the number of upsert calls since the last call of this method. */
  upserts(): number {
    return this.observed.calls().filter((call) => call.includes("/upsert-dataset-")).length;
  }

  /** Returns the number of records in a dataset, as reported by the service. */
  async recordCount(datasetId: string): Promise<number> {
    const headers = { apikey: this.observed.service.key };
    const answer = await fetch(`${this.observed.service.url}/status`, { headers });
    const { datasets } = (await answer.json()) as { datasets: { id: string; records: number }[] };
    return datasets.find(({ id }) => id === datasetId)?.records ?? 0;
  }

  /** Returns the attributes of a user or an item from the database of the service. */
  async attributes(datasetId: string, recordId: string): Promise<unknown> {
    const db = connect(dataDirectoryAt(this.observed.service.dataDir).database);
    try {
      const dataset = db.selectFrom("datasets").select("number").where("id", "=", datasetId);
      const found = await db
        .selectFrom("records")
        .select("attributes")
        .where("dataset", "=", dataset)
        .where("record_id", "=", recordId)
        .executeTakeFirst();
      return found && JSON.parse(found.attributes);
    } finally {
      await db.destroy();
    }
  }

  async end(): Promise<void> {
    await this.observed.close();
    this.directory.remove();
  }
}

/** Returns NDJSON lines of the users from one number to another, exclusive. */
export function userLines(from: number, to: number, attributes: object = {}): string {
  return Array.from(
    { length: to - from },
    (_, at) => `${JSON.stringify({ user_id: `u${from + at}`, attributes })}\n`,
  ).join("");
}
