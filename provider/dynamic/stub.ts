/**
 * Returns the code that the state stores for a dynamic provider. It loads the lifecycle from the installed package. The
 * lookup starts in the program's directory, so a package that refers to itself is found too.
 */
export function stub(type: string): string {
  return `exports.handler=()=>require("module").createRequire(process.cwd()+"/")("pulumi-recommender").${type}.lifecycle`;
}
