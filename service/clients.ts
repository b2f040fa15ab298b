import { dataDirectoryAt, isDataDirectory } from "./files/data-directory";
import { withoutPassword } from "./store/address";
import { Clients } from "./store/clients";
import { openMigratedStore } from "./store/database";
import { unreachable } from "./store/postgres-errors";

/** Where the API clients of a service are stored: its data directory, or the URL of its database. */
export type ClientsPlace = { readonly dataDir: string } | { readonly store: string };

/**
 * Runs `work` with the API clients of a service, which may be running or not. Fails if the database needs a migration.
 */
export async function withClients<T>(
  place: ClientsPlace,
  work: (clients: Clients) => Promise<T>,
): Promise<T> {
  const database = "store" in place ? place.store : databaseIn(place.dataDir);
  const store = await openMigratedStore(database).catch((error) => {
    if (!("store" in place) || !unreachable(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      `The database ${withoutPassword(place.store)} cannot be reached (${message || code}). ` +
        "Check that it is running, and that its address in --store is correct.",
      { cause: error },
    );
  });
  try {
    return await work(new Clients(store));
  } finally {
    await store.close();
  }
}

function databaseIn(dataDir: string): string {
  const dataDirectory = dataDirectoryAt(dataDir);
  if (isDataDirectory(dataDirectory)) return dataDirectory.database;
  throw new Error(
    `${dataDirectory.path} contains no service data. Run \`recommender serve --data ${dataDir}\` first, ` +
      "or pass a different directory with --data.",
  );
}
