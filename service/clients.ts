import { folderAt, isDataFolder } from "./files/folder";
import { withoutPassword } from "./store/address";
import { Clients } from "./store/clients";
import { openMigratedStore } from "./store/database";
import { unreachable } from "./store/postgres-errors";

/** Where the clients of a service are kept: with its data. */
export type ClientsPlace = { readonly dataDir: string } | { readonly store: string };

/** Works on the clients of a service, whether it runs or not; never changes its tables. */
export async function withClients<T>(
  place: ClientsPlace,
  work: (clients: Clients) => Promise<T>,
): Promise<T> {
  const database = "store" in place ? place.store : databaseIn(place.dataDir);
  const store = await openMigratedStore(database).catch((error) => {
    if (!("store" in place) || !unreachable(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      `The database ${withoutPassword(place.store)} cannot be reached (${message || code}); check its address in --store.`,
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
  const folder = folderAt(dataDir);
  if (isDataFolder(folder)) return folder.database;
  throw new Error(
    `There is no data of a service in ${folder.path}; start one with \`recommender serve --data ${dataDir}\` first, ` +
      "or name another folder with --data.",
  );
}
