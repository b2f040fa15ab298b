import { dirname, sep } from "node:path";
import { droppedFrames } from "./sdk-internals";

/** Directory of this package's code that runs in programs. */
const provider = dirname(__dirname) + sep;

/**
 * Removes the frames of this package and of Node from stack traces, until the returned function is called. The engine
 * stores the trace of each resource in the state, where these frames would be a third of all bytes. Meanwhile Node's
 * `--enable-source-maps` has no effect, so line numbers refer to the compiled file.
 */
export function traceProgram(): () => void {
  const { prepareStackTrace } = Error;
  const format = prepareStackTrace ?? ((error, frames) => [error, ...frames].join("\n    at "));
  Error.prepareStackTrace = (error, frames) =>
    format(error, [...frames.slice(0, droppedFrames), ...frames.slice(droppedFrames).filter(isOfProgram)]);
  return () => {
    Error.prepareStackTrace = prepareStackTrace;
  };
}

function isOfProgram(frame: NodeJS.CallSite): boolean {
  const file = frame.getFileName() ?? "node:";
  return (
    !file.startsWith("node:") && !file.startsWith(provider) && !file.includes(`${sep}node_modules${sep}`)
  );
}
