import type { OrphanType } from "../../contract";

/** An object that no program uses any more. The API specification has no call to delete such an object. */
export interface OrphanTable {
  object_type: OrphanType;
  object_id: string;
  orphaned_ts: number;
  /** The resource that stopped using the object, as JSON. Null if the caller did not send it. */
  origin: string | null;
}

/** A stack that uses an object for which the API specification has no delete call. */
export interface HolderTable {
  object_type: OrphanType;
  object_id: string;
  /** PROJECT/STACK, each part percent-encoded; empty if the program is unknown. */
  holder: string;
}

/** The project that is served at the stable address of a deployment. */
export interface StableAddressTable {
  /** PROJECT/STACK/RESOURCE of the deployment, each part percent-encoded. */
  address: string;
  project_id: string;
  /** Number of the deployment job that set the address. An older job does not overwrite it. */
  job_number: number;
}
