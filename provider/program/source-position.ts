import { dirname, sep } from "node:path";

/** The SDK drops its own four frames and that of the class that extends it. */
const DROPPED = 5;

/** Where all files lie that a program's declaration goes through. */
const provider = dirname(__dirname) + sep;

/**
 * Until the returned function is called, stack traces go from the SDK straight to the user's program: the engine keeps
 * them in the state of each resource, where the line of the program is what helps, and the frames of this package and
 * of what loaded the program are a third of all bytes. (A hook switches Node's own `--enable-source-maps` off; the
 * lines are those of the compiled file then.)
 */
export function traceProgram(): () => void {
  const { prepareStackTrace } = Error;
  const format = prepareStackTrace ?? ((error, frames) => [error, ...frames].join("\n    at "));
  Error.prepareStackTrace = (error, frames) =>
    format(error, [...frames.slice(0, DROPPED), ...frames.slice(DROPPED).filter(isOfProgram)]);
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
