/**
 * Code of the provider in one process. Each binding has a separate copy, like a separate process, so the bindings share
 * no memory of a run.
 */
export { endpointToken } from "../../client/client";
export { readSettings } from "../../client/settings";
export { definitions } from "../../provider/definitions";
export { setBinding } from "../../provider/run/engine";
export { Run, useSession } from "../../provider/run/session";
export { lasting, MortalClient } from "./mortal-client";
