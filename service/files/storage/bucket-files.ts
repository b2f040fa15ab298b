import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ListMultipartUploadsCommandOutput, S3Client } from "@aws-sdk/client-s3";
import { shortened } from "../../base/error";
import { bucketAt, bucketError, isMissing, loadSdk, settings } from "./bucket";
import {
  abandonedAfterMs,
  type Content,
  type CopyOptions,
  type Files,
  type Listed,
  type Location,
  type Reading,
} from "./files";
import { LocalCopies } from "./local-copies";

/** Size of a part of an upload. An upload can have 10,000 parts, so a file can have up to 160 GB. */
const partBytes = 16 * 1024 * 1024;

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Files in a bucket of Amazon S3 or a compatible storage. */
export class BucketFiles implements Files {
  readonly isTrusted = false;
  readonly label: string;
  private readonly bucket: string;
  private readonly prefix: string;
  private readonly copies: LocalCopies;
  private opened: Promise<{ sdk: Sdk; client: S3Client }> | undefined;

  constructor(
    readonly location: Location & { readonly url: string },
    maxCopiedBytes?: number,
  ) {
    const { bucket, prefix } = bucketAt(location.url);
    this.bucket = bucket;
    this.prefix = prefix;
    this.label = location.url;
    this.copies = new LocalCopies(location.directory, maxCopiedBytes);
  }

  /**
   * Tries to write, list, delete and read. Without this check, a training would fail at its end if a permission is
   * missing.
   */
  async check(instanceId: string): Promise<void> {
    const probe = `models/model-check-${randomUUID()}`;
    await this.write(probe, [Buffer.from("can this be written?")]);
    await this.list(probe);
    await this.remove(probe);
    const owner = await this.ownerOr(instanceId);
    if (owner === instanceId) return;
    throw new Error(
      `${this.label} contains the files of another service (${owner}; this is ${instanceId}). ` +
        "Set another prefix with --files, " +
        "or delete everything under this one if its files are no longer needed.",
    );
  }

  async write(name: string, content: Content): Promise<void> {
    await this.run(async ({ Upload }, client) => {
      const Body = Readable.from(content, { objectMode: false });
      await new Upload({ client, partSize: partBytes, params: { ...this.at(name), Body } }).done();
    });
  }

  async read(name: string): Promise<Reading | undefined> {
    return this.run(async ({ GetObjectCommand }, client) => {
      try {
        const { Body, ContentLength } = await client.send(new GetObjectCommand(this.at(name)));
        return { bytes: ContentLength as number, stream: Body as Readable };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  open(name: string, how?: CopyOptions): Promise<FileHandle | undefined> {
    return this.copies.open(name, () => this.read(name), how);
  }

  async remove(name: string): Promise<void> {
    await this.copies.remove(name);
    await this.run(({ DeleteObjectCommand }, client) => client.send(new DeleteObjectCommand(this.at(name))));
  }

  list(prefix: string): Promise<Listed[]> {
    return this.run(async ({ paginateListObjectsV2 }, client) => {
      const { Bucket, Key } = this.at(prefix);
      const files: Listed[] = [];
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix: Key })) {
        for (const { Key = "", LastModified } of Contents)
          files.push({
            name: Key.slice(this.prefix.length),
            writtenTs: LastModified?.getTime() ?? Date.now(),
          });
      }
      return files;
    });
  }

  link(name: string, seconds: number, type: string): Promise<string | undefined> {
    return this.run(async ({ GetObjectCommand, HeadObjectCommand, getSignedUrl }, client) => {
      try {
        await client.send(new HeadObjectCommand(this.at(name)));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
      const command = new GetObjectCommand({ ...this.at(name), ResponseContentType: type });
      return getSignedUrl(client, command, { expiresIn: seconds });
    });
  }

  /** Aborts interrupted uploads. Their parts are not listed as files, but they take space. */
  async cleanUp(afterMs = abandonedAfterMs): Promise<void> {
    await this.run(async ({ ListMultipartUploadsCommand, AbortMultipartUploadCommand }, client) => {
      const { Bucket, Key: Prefix } = this.at("");
      const old: { Key: string | undefined; UploadId: string | undefined }[] = [];
      // A page lists at most 1,000 uploads. The next page starts after the last name, because storages differ in the
      // upload markers that they accept. Further uploads of that name are found the next time.
      for (let after: { KeyMarker?: string } | undefined = {}; after; ) {
        const page: ListMultipartUploadsCommandOutput = await client.send(
          new ListMultipartUploadsCommand({ Bucket, Prefix, ...after }),
        );
        for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
          if (Date.now() - (Initiated?.getTime() ?? Date.now()) >= afterMs) old.push({ Key, UploadId });
        const { IsTruncated, NextKeyMarker: KeyMarker } = page;
        after = IsTruncated && KeyMarker !== undefined ? { KeyMarker } : undefined;
      }
      for (const upload of old) await client.send(new AbortMultipartUploadCommand({ Bucket, ...upload }));
    });
  }

  cleanUpCopies(existing: ReadonlySet<string>, afterMs = abandonedAfterMs): Promise<void> {
    return this.copies.cleanUp(existing, afterMs);
  }

  close(): void {
    void this.opened?.then(({ client }) => client.destroy()).catch(() => undefined);
  }

  /** Returns the id of the instance that owns the files. If they have no owner, this instance becomes the owner. */
  private async ownerOr(instanceId: string): Promise<string> {
    const written = await this.read("instance");
    if (!written) await this.write("instance", [Buffer.from(instanceId)]);
    return written ? shortened(await text(written.stream)) : instanceId;
  }

  private at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: `${this.prefix}${name}` };
  }

  /** Runs an operation. Its errors name the bucket and the remedy. */
  private async run<T>(work: (sdk: Sdk, client: S3Client) => Promise<T>): Promise<T> {
    this.opened ??= loadSdk().then((sdk) => ({ sdk, client: new sdk.S3Client(settings()) }));
    const { sdk, client } = await this.opened;
    try {
      return await work(sdk, client);
    } catch (error) {
      throw bucketError(this.label, error);
    }
  }
}
