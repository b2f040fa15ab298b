import { join } from "node:path";

/** Returns the root directory of the package, which is above dist/ in compiled code. */
export function packageDirectory(): string {
  const directory = join(__dirname, "../..");
  return directory.endsWith("dist") ? join(directory, "..") : directory;
}
