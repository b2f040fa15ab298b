import { join } from "node:path";

/** The top folder of the package: above dist/ if this is compiled. */
export function packageFolder(): string {
  const folder = join(__dirname, "../..");
  return folder.endsWith("dist") ? join(folder, "..") : folder;
}
