/**
 * Returns the code that the state stores for a dynamic provider. The code loads the lifecycle from the installed
 * package. The lookup starts in the program's directory, so a program inside this package finds the package too.
 */
export function stub(type: string): string {
  return `exports.handler=()=>require("module").createRequire(process.cwd()+"/")("pulumi-recommender").${type}.lifecycle`;
}
