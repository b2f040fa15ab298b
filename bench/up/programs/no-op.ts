import * as crypto from "node:crypto";
import * as pulumi from "@pulumi/pulumi";

interface Inputs {
  readonly name: string;
  readonly numShards: number;
}

/** The smallest possible dynamic provider, which does nothing. */
const provider: pulumi.dynamic.ResourceProvider<Inputs> = {
  async create(inputs) {
    return { id: crypto.randomUUID(), outs: inputs };
  },
  async update(_id, _olds, news) {
    return { outs: news };
  },
  async delete() {},
};

class NoOp extends pulumi.dynamic.Resource {
  constructor(name: string, args: Inputs) {
    super(provider, name, args);
  }
}

for (let n = 0; n < Number(process.env.BENCH_COUNT); n++) {
  new NoOp(`events${n}`, { numShards: 1, name: (n === 0 && process.env.BENCH_NAME) || `events${n}` });
}
