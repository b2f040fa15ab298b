import { CompiledQuery, sql } from "kysely";
import { type Db, isPostgres } from "./database";

/** A row of any table. */
export type Row = Record<string, unknown>;

const rowsPerPage = 1000;

/** Reads all rows of a table in pages. Call it inside a transaction. */
export function readPages(db: Db, table: string): AsyncGenerator<Row[]> {
  return isPostgres(db) ? pagesByCursor(db, table) : pagesByRowId(db, table);
}

async function* pagesByCursor(db: Db, table: string): AsyncGenerator<Row[]> {
  await sql`declare page no scroll cursor for select * from ${sql.table(table)}`.execute(db);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(rowsPerPage)} from page`.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < rowsPerPage) break;
  }
  await sql`close page`.execute(db);
}

async function* pagesByRowId(db: Db, table: string): AsyncGenerator<Row[]> {
  let last = 0;
  for (;;) {
    const { rows } = await sql<Row & { row_id: number }>`
      select rowid as row_id, * from ${sql.table(table)} where rowid > ${last}
      order by rowid limit ${sql.lit(rowsPerPage)}`.execute(db);
    if (rows.length > 0) yield rows.map(({ row_id: _, ...row }) => row);
    if (rows.length < rowsPerPage) return;
    last = (rows.at(-1) as { row_id: number }).row_id;
  }
}

/** Inserts rows, which must all have the columns of the first row. Values of generated columns can be inserted too. */
export async function insertRows(db: Db, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  // SQLite limits the number of parameters in a statement.
  const [insert, size] = isPostgres(db) ? [insertJson, rowsPerPage] : [insertValues, 100];
  for (let from = 0; from < rows.length; from += size)
    await insert(db, table, columns, rows.slice(from, from + size));
}

async function insertJson(
  db: Db,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(table)} (${names}) overriding system value
    select ${names} from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)})`.execute(
    db,
  );
}

async function insertValues(
  db: Db,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const names = columns.map((column) => `"${column}"`);
  const values = rows.map(() => `(${columns.map(() => "?")})`);
  const parameters = rows.flatMap((row) => columns.map((column) => row[column]));
  await db.executeQuery(CompiledQuery.raw(`insert into "${table}" (${names}) values ${values}`, parameters));
}
