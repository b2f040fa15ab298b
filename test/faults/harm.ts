import { resetAfter, resetBefore } from "./faults";
import type { Fault } from "./proxy";

/** Fault of a run, and the call that it affects. */
export type Harm = {
  readonly how: "nothing" | "killBefore" | "killAfter" | "loseRequest" | "loseReply" | "failTraining";
  readonly at: number;
};

/** Returns the proxy's fault. */
export function faultOf({ how }: Harm, kill: (call: string) => void): Fault | undefined {
  const killing =
    (after: boolean): Fault =>
    async ({ call, pass, response }) => {
      if (after) await pass();
      kill(call);
      response.socket?.destroy();
    };
  return {
    nothing: undefined,
    failTraining: undefined,
    killBefore: killing(false),
    killAfter: killing(true),
    loseRequest: resetBefore,
    loseReply: resetAfter,
  }[how];
}
