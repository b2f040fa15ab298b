import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { routes } from "pulumi-recommender/contract";

/** A file that lists the operations of the recommendation service. */
class OperationsFile extends pulumi.dynamic.Resource {
  declare readonly file: pulumi.Output<string>;

  constructor(name: string, args: { file: string; lines: string[] }) {
    super(lifecycle, name, args, undefined, "quickstart", "OperationsFile");
  }
}

const write = async ({ file, lines }: { file: string; lines: string[] }) => {
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, lines.map((line) => `${line}\n`).join(""));
  return { file, lines };
};

const lifecycle: pulumi.dynamic.ResourceProvider = {
  async create(args) {
    return { id: args.file, outs: await write(args) };
  },
  async read(file) {
    const lines = (await fs.readFile(file, "utf8")).trimEnd().split("\n");
    return { id: file, props: { file, lines }, inputs: { file, lines } };
  },
  async diff(_id, olds, news) {
    const moved = olds.file !== news.file;
    return {
      changes: moved || olds.lines.join() !== news.lines.join(),
      replaces: moved ? ["file"] : [],
    };
  },
  async update(_id, _olds, news) {
    return { outs: await write(news) };
  },
  async delete(file) {
    await fs.rm(file, { force: true });
  },
};

const operations = Object.entries(routes).map(([name, { method, path }]) => `${name}: ${method} ${path}`);

const listing = new OperationsFile("operations", {
  file: path.resolve("../../.recommender/operations.txt"),
  lines: operations,
});

export const operationsFile = listing.file;
export const operationCount = operations.length;
