import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ParquetTable } from "../../../service/threads/parquet";

const directory = mkdtempSync(join(tmpdir(), "parquet-"));
afterAll(() => rmSync(directory, { recursive: true }));

// ParquetTable relies on hyparquet-writer to write files synchronously, although its methods may return promises.
test("a table of several row groups is complete when finish returns", async () => {
  const file = join(directory, "table.parquet");
  const table = await ParquetTable.create(file, { index: "integer", id: "text", attributes: "text?" });
  const rows = 70_000;
  for (let index = 0; index < rows; index++) table.add(index, `id ${index}`, index % 2 ? "{}" : null);
  table.finish();
  const size = statSync(file).size;
  const { asyncBufferFromFile, parquetReadObjects } = await import("hyparquet");
  const read = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
  expect(read).toHaveLength(rows);
  expect(read.at(-1)).toEqual({ index: rows - 1, id: `id ${rows - 1}`, attributes: "{}" });
  expect(statSync(file)).toMatchObject({ size, mode: 0o100600 });
});
