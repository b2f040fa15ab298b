import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** Writes three events, the last one without a type, to a Parquet file and to a compressed copy. */
async function main([path]: string[]): Promise<void> {
  // The writer is an ES module, which jest cannot load, so it runs in a separate process.
  const { parquetWriteBuffer } = await import("hyparquet-writer");
  const times = [0, 1, 2].map((second) => new Date(1_700_000_000_000 + second * 1000));
  const bytes = Buffer.from(
    parquetWriteBuffer({
      rowGroupSize: 2,
      columnData: [
        { name: "event_id", data: ["é1", "e2", "e3"], type: "STRING" },
        { name: "user_id", data: [9007199254740993n, 2n, 3n], type: "INT64" },
        { name: "item_id", data: ["a", "b", "c"], type: "STRING" },
        { name: "ts", data: times, type: "TIMESTAMP" },
        { name: "event_type", data: ["buy", "buy", null], type: "STRING" },
        { name: "price", data: [1.5, null, 3], type: "DOUBLE" },
      ],
    }),
  );
  writeFileSync(path as string, bytes);
  writeFileSync(`${path}.gz`, gzipSync(bytes));
}

void main(process.argv.slice(2));
