import type { FileHandle } from "node:fs/promises";
import { statfs } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Agent } from "undici";
import { SourceError } from "../formats/row";
import { bodyChunks } from "./body-chunks";
import { connectionProblem, idleTimeoutMs, type Reply } from "./request";
import { spoolDirectory } from "./spool";

/** Number of attempts without a new byte after which a download fails. */
const maxAttempts = 5;
/** Number of times that a source may change while it is read. */
const maxChanges = 3;
const firstDelayMs = 200;
const maxDelayMs = 20_000;

/** Request for the content of a source, or for the part of it that starts at a byte. */
interface Downloadable {
  readonly displayName: string;
  readonly url: URL;
  get(http: Agent, headers: Readonly<Record<string, string>>): Promise<Reply>;
  /** Returns the reason if a response is final, with the step to take. Undefined if another attempt may help. */
  problemOf(reply: Reply): Promise<string | undefined>;
}

/** Runs requests on connections that are closed afterwards. */
export async function withConnections<T>(work: (http: Agent) => Promise<T>): Promise<T> {
  const timeout = idleTimeoutMs();
  const http = new Agent({
    headersTimeout: timeout,
    bodyTimeout: timeout,
    connect: { timeout: Math.min(timeout, 15_000) },
  });
  try {
    return await work(http);
  } finally {
    await http.destroy();
  }
}

/** Returns the ETag of a response if equal ETags prove equal content. Weak ETags do not. */
export function strongTag({ headers }: Pick<Reply, "headers">): string | undefined {
  const tag = headers.etag;
  return typeof tag === "string" && tag !== "" && !tag.startsWith("W/") ? tag : undefined;
}

/**
 * Downloads a source to a file. If the connection breaks, the download continues where it stopped if the ETag proves
 * that the content is the same. Otherwise it starts over.
 * @returns the ETag of the content
 */
export function download(source: Downloadable, file: FileHandle): Promise<string | undefined> {
  return withConnections((http) => new Download(source, file, http).run());
}

class Download {
  #received = 0;
  #tag: string | undefined;
  #failures = 0;
  #changes = 0;

  constructor(
    private readonly source: Downloadable,
    private readonly file: FileHandle,
    private readonly http: Agent,
  ) {}

  async run(): Promise<string | undefined> {
    for (;;) {
      const before = this.#received;
      const problem = await this.#attempt().catch((error) => this.#retryable(error));
      if (problem === undefined) return this.#tag;
      this.#failures = this.#received > before ? 1 : this.#failures + 1;
      if (this.#failures >= maxAttempts) throw this.#error(problem.text);
      const wait = problem.retryAfterMs ?? firstDelayMs * 2 ** (this.#failures - 1);
      await delay(Math.min(wait, maxDelayMs));
    }
  }

  /**
   * Requests the missing part. Returns undefined if the download is complete, otherwise the problem that a retry may
   * solve. Throws other problems.
   */
  async #attempt(): Promise<Problem | undefined> {
    const isResumed = this.#received > 0 && this.#tag !== undefined;
    const part = isResumed ? { range: `bytes=${this.#received}-`, "if-range": this.#tag as string } : {};
    const reply = await this.source.get(this.http, { "accept-encoding": "identity", ...part });
    const continues = reply.statusCode === 206 && this.#continues(reply);
    if (reply.statusCode !== 200 && !continues) return this.#rejected(reply, isResumed);
    const chunks = bodyChunks(reply.body);
    assertRecords(this.source, reply);
    if (!continues) await this.#startOver(strongTag(reply));
    const length = Number(reply.headers["content-length"] ?? Number.NaN);
    await this.#assertRoom(length);
    const end = this.#received + length;
    await this.#write(chunks);
    if (Number.isNaN(end) || this.#received === end) return undefined;
    return { text: `sent ${this.#received} of ${end} bytes` };
  }

  #continues({ headers }: Reply): boolean {
    const range = String(headers["content-range"] ?? "");
    return range.startsWith(`bytes ${this.#received}-`) && strongTag({ headers }) === this.#tag;
  }

  async #rejected(reply: Reply, isResumed: boolean): Promise<Problem> {
    // The rest that was requested no longer exists, because the content has changed.
    if (isResumed && [206, 412, 416].includes(reply.statusCode)) {
      await reply.body.dump();
      await this.#startOver(undefined);
      return { text: "was changed while it was read" };
    }
    const final = await this.source.problemOf(reply);
    await reply.body.dump().catch(() => undefined);
    if (final !== undefined) throw new SourceError(this.source.displayName, final);
    const seconds = Number(reply.headers["retry-after"]);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
    return { text: `${reply.url.host} responds with ${reply.statusCode}`, retryAfterMs };
  }

  async #startOver(tag: string | undefined): Promise<void> {
    // A new ETag instead of the rest means that the content has changed.
    if (this.#received > 0 && this.#tag !== undefined && ++this.#changes >= maxChanges)
      throw new SourceError(
        this.source.displayName,
        "was changed each time it was read; run the command again when it is complete",
      );
    this.#tag = tag;
    this.#received = 0;
    await this.file.truncate(0);
  }

  async #assertRoom(length: number): Promise<void> {
    if (Number.isNaN(length)) return;
    const { bavail, bsize } = await statfs(spoolDirectory());
    if (length <= bavail * bsize) return;
    const needed = `${gigabytes(length)} GB, but ${spoolDirectory()} has ${gigabytes(bavail * bsize)} GB free`;
    throw new SourceError(
      this.source.displayName,
      `needs ${needed}; free space, or set XDG_STATE_HOME to a larger disk`,
    );
  }

  async #write(chunks: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of chunks) {
      if (this.#received === 0 && /^\s*<(!doctype html|html)/i.test(chunk.toString("latin1", 0, 64)))
        throw webPageError(this.source.displayName);
      // A full disk can take a part of a chunk. The next write then fails.
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await this.file.write(chunk, at, chunk.length - at, this.#received);
        at += bytesWritten;
        this.#received += bytesWritten;
      }
    }
  }

  /**
   * Returns the connection problem if another attempt may help. Throws all other errors, including timeouts while
   * connecting or waiting for the response headers.
   */
  #retryable(error: NodeJS.ErrnoException): Problem {
    if (error instanceof SourceError) throw error;
    if (error.code === "ENOSPC")
      throw new SourceError(
        this.source.displayName,
        `does not fit on the disk of ${spoolDirectory()}; free space, or set XDG_STATE_HOME to a larger disk`,
      );
    if (!error.code && !error.cause) throw error;
    const reason = connectionProblem(this.source.url, error);
    // A server that does not start to respond has had its time. Another attempt would only wait as long again.
    if (/(HEADERS|CONNECT)_TIMEOUT/.test(error.code ?? ""))
      throw new SourceError(this.source.displayName, reason);
    if (this.#received === 0) return { text: reason };
    return { text: `was cut off after ${this.#received} bytes: ${reason}` };
  }

  #error(problem: string): Error {
    const step = /;/.test(problem) ? "" : "; run the command again later";
    return new SourceError(this.source.displayName, `${problem}${step}`);
  }
}

interface Problem {
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
}

/** Throws if the headers announce a web page. */
function assertRecords({ displayName }: Downloadable, { headers }: Reply): void {
  if (/^text\/html\b/i.test(String(headers["content-type"] ?? ""))) throw webPageError(displayName);
}

/** Returns the error for a login page or an error page, which often has the status 200. */
function webPageError(displayName: string): Error {
  return new SourceError(
    displayName,
    "is a web page, not records; check the address, which may need a login or a link for downloads",
  );
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toLocaleString("en", { maximumFractionDigits: 1 });
}
