import { readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { submitters } from "../../provider/jobs/other-project";
import { components } from "../../provider/plugin/components";
import { partsOf, resourceTypeOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import type { Location } from "./finding";
import type { Language } from "./language";

/** Resource type that declares the jobs of each job type. */
const declarerOf = Object.fromEntries(Object.entries(submitters).map(([type, job]) => [job, type]));

const ignored = ["**/{node_modules,site-packages,venv,vendor,target,bin,obj}/**", "**/.*/**", "**/*.d.ts"];

interface Declaration extends Location {
  readonly type: string;
  /** Name of the resource. Undefined if the program computes the name. */
  readonly name: string | undefined;
}

/**
 * Finds the source positions of declarations in the current program. If a name is computed or not unique, chooses the
 * declaration nearest to the position that the last update stored in the state.
 */
export class Declarations {
  #found: Declaration[] | undefined;
  readonly #lastPositions: ReadonlyMap<string, Location>;

  constructor(
    private readonly directory: string,
    private readonly language: Language,
    state: readonly StateResource[],
  ) {
    this.#lastPositions = new Map(
      state.flatMap((resource) => {
        const trace = positions(resource);
        const declared = trace.find((position) => this.#all.some((one) => isSameLine(one, position)));
        const position = declared ?? trace[0];
        return position ? [[resource.urn, position] as const] : [];
      }),
    );
  }

  /** Returns the declaration of a resource, or undefined if none is found. */
  locate(urn: string): Location | undefined {
    const { type: chain, name } = partsOf(urn);
    const resourceType = resourceTypeOf(chain) ?? chain.split(/[:/]/).at(-1) ?? "";
    const declarer = declarerOf[resourceType] ?? resourceType;
    const types = [declarer, components.find(({ result }) => result === declarer)?.type];
    const ofType = this.#all.filter((one) => types.includes(one.type));
    const named = ofType.filter((one) => one.name === name);
    const computed = ofType.filter((one) => one.name === undefined || one.name.includes("${"));
    const lastPosition = this.#lastPositions.get(urn);
    const candidates = named.length > 0 ? named : computed;
    const best = lastPosition && nearest(candidates, lastPosition);
    const found = best ?? (named.length > 0 || computed.length === 1 ? candidates[0] : undefined);
    return found && { file: found.file, line: found.line, column: found.column };
  }

  get #all(): readonly Declaration[] {
    this.#found ??= globSync(this.language.files, { cwd: this.directory, ignore: ignored })
      .sort()
      .flatMap((file) =>
        findDeclarations(file, readFileSync(join(this.directory, file), "utf8"), this.language),
      );
    return this.#found;
  }
}

/** Finds the declarations in a source file. */
export function findDeclarations(
  file: string,
  text: string,
  { textOrComment, declaration }: Language,
): Declaration[] {
  const code = text.replace(textOrComment, (found, string) => string ?? found.replace(/[^\n]/g, " "));
  return [...code.matchAll(declaration)].map(({ index, groups }) => {
    const { type = "", name } = groups as { type?: string; name?: string };
    const before = code.slice(0, index);
    const line = before.split("\n").length;
    return { file, line, column: index - before.lastIndexOf("\n"), type, name };
  });
}

function positions({ stackTrace = [] }: StateResource): Location[] {
  return stackTrace.flatMap(({ sourcePosition = "" }) => {
    const [, path = "", line, column] = /^project:\/\/\/(.+)#(\d+),(\d+)$/.exec(sourcePosition) ?? [];
    const isExternal = path === "" || path.startsWith("..") || path.includes("node_modules/");
    return isExternal ? [] : [{ file: decodeURI(path), line: Number(line), column: Number(column) }];
  });
}

function isSameLine(a: Location, b: Location): boolean {
  return a.file === b.file && a.line === b.line;
}

function nearest(candidates: readonly Declaration[], to: Location): Declaration | undefined {
  const distance = (one: Location) => (one.file === to.file ? Math.abs(one.line - to.line) : 1e9);
  return [...candidates].sort((a, b) => distance(a) - distance(b))[0];
}
