import { readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { components } from "../../provider/plugin/components";
import { nounOf, partsOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import type { Location } from "./finding";
import type { Language } from "./language";
import { jobTypes } from "./resource";

/** What declares each kind of job: the resource beside it. */
const declarerOf = Object.fromEntries(Object.entries(jobTypes).map(([noun, job]) => [job, noun]));

const ignoredFiles = [
  "**/{node_modules,site-packages,venv,vendor,target,bin,obj}/**",
  "**/.*/**",
  "**/*.d.ts",
];

interface Declaration extends Location {
  readonly type: string;
  /** Undefined where the name is computed. */
  readonly name: string | undefined;
}

/**
 * Finds where the program that is there now declares a resource. The state knows where it stood at the last update,
 * which helps where a name is computed or stands in several places.
 */
export class Declarations {
  #found: Declaration[] | undefined;
  readonly #stood: ReadonlyMap<string, Location>;

  constructor(
    private readonly folder: string,
    private readonly language: Language,
    state: readonly StateResource[],
  ) {
    const known = state.flatMap((resource) => {
      const stood = positions(resource);
      return stood.length > 0 ? [[resource.urn, stood] as const] : [];
    });
    this.#stood = new Map(
      known.flatMap(([urn, stood]) => {
        const there = stood.find((position) => this.#constructions.some((one) => samePlace(one, position)));
        const place = there ?? stood[0];
        return place ? [[urn, place] as const] : [];
      }),
    );
  }

  /** Undefined where nothing in the program looks like it. */
  locate(urn: string): Location | undefined {
    const { type: chain, name } = partsOf(urn);
    const noun = nounOf(chain) ?? chain.split(/[:/]/).at(-1) ?? "";
    const declarer = declarerOf[noun] ?? noun;
    const types = [declarer, components.find(({ result }) => result === declarer)?.type];
    const ofType = this.#constructions.filter((one) => types.includes(one.type));
    const named = ofType.filter((one) => one.name === name);
    const computed = ofType.filter((one) => one.name === undefined || one.name.includes("${"));
    const stood = this.#stood.get(urn);
    const candidates = named.length > 0 ? named : computed;
    const best = stood && nearest(candidates, stood);
    const found = best ?? (named.length > 0 || computed.length === 1 ? candidates[0] : undefined);
    return found && { file: found.file, line: found.line, column: found.column };
  }

  get #constructions(): readonly Declaration[] {
    this.#found ??= globSync(this.language.files, { cwd: this.folder, ignore: ignoredFiles })
      .sort()
      .flatMap((file) =>
        findDeclarations(file, readFileSync(join(this.folder, file), "utf8"), this.language),
      );
    return this.#found;
  }
}

/** The places of a file where something is declared. */
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
    const foreign = path === "" || path.startsWith("..") || path.includes("node_modules/");
    return foreign ? [] : [{ file: decodeURI(path), line: Number(line), column: Number(column) }];
  });
}

function samePlace(a: Location, b: Location): boolean {
  return a.file === b.file && a.line === b.line;
}

function nearest(candidates: readonly Declaration[], to: Location): Declaration | undefined {
  const distance = (one: Location) => (one.file === to.file ? Math.abs(one.line - to.line) : 1e9);
  return [...candidates].sort((a, b) => distance(a) - distance(b))[0];
}
