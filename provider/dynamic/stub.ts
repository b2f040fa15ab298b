/**
 * What enters the state instead of code: the name under which the installed package keeps the lifecycle.
 * It is looked up from the program's folder, so that a package that refers to itself is found too.
 */
export function stub(type: string): string {
  return `exports.handler=()=>require("module").createRequire(process.cwd()+"/")("pulumi-recommender").${type}.lifecycle`;
}
