/**
 * The code of the provider as one process loads it. Each binding has a copy of its own, as each has a process: what one
 * of them remembers of a run the other does not know.
 */
export { endpointToken } from "../../client/client";
export { readSettings } from "../../client/settings";
export { definitions } from "../../provider/definitions";
export { setBinding } from "../../provider/run/engine";
export { Run, useSession } from "../../provider/run/session";
export { lasting, MortalClient } from "./mortal-client";
