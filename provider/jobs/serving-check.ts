import { runCheck, type ServingCheck } from "../../client/serving";
import { isUnreachable } from "../../client/unreachable";
import { PartialStateError } from "../lifecycle/failure";
import type { Context } from "../run/context";

/** The arguments of a deployment that its check needs. */
interface Checked {
  readonly projectId: string;
  readonly qps: number;
  readonly check?: ServingCheck | undefined;
}

/**
 * Returns why the check of a new deployment failed, or undefined if it passed.
 *
 * @param failed the error to throw if the check could not be completed, which says nothing about the models
 */
export function faultOf(
  args: Checked,
  { servingUri }: { readonly servingUri?: string | undefined },
  context: Context,
  failed: (reason: string) => Error,
): Promise<string | undefined> {
  return runCheck(args, servingUri, context).catch((error: Error) => {
    if (isUnreachable(error)) throw error;
    const reason = "it is deployed, but its check could not be completed; `pulumi up` repeats it";
    throw Object.assign(failed(`${reason}: ${error.message}`), { cause: error });
  });
}

/** Returns what was deployed if its check passes. Otherwise the state keeps it, and the next run checks it again. */
export async function checked<Outputs extends { readonly servingUri?: string | undefined }>(
  args: Checked,
  outputs: Outputs,
  context: Context,
): Promise<Outputs> {
  const state = { ...args, ...outputs, checkFailed: true as const };
  const failed = (reason: string) => new PartialStateError(args.projectId, state, reason);
  const fault = await faultOf(args, outputs, context, failed);
  if (fault) throw failed(`it is deployed, but ${fault}`);
  return outputs;
}
