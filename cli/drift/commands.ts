import { relative } from "node:path";
import { nounOf, partsOf, titleOf } from "../../provider/run/urn";
import type { Finding, Location, PropertyFinding, ResourceRef, Unmanaged } from "./finding";
import type { Language } from "./language";

type Fixes = Finding["fixes"];
type Found = Omit<Unmanaged, "fixes">;

/** At most so much is put into one sentence; all properties are listed beside it. */
const mostValues = 8;
const mostLength = 200;

/** The commands that fix what is found in one stack, for the folder that `recommender drift` was called in. */
export class Commands {
  readonly #where: string;

  constructor(
    readonly stack: string,
    cwd: string,
    private readonly urns: readonly string[],
    private readonly language: Language,
  ) {
    const near = relative(process.cwd(), cwd);
    const folder = near.length < cwd.length ? near : cwd;
    this.#where = `--stack ${quoted(stack)}${folder === "" ? "" : ` --cwd ${quoted(folder)}`}`;
  }

  /** For all drift of the stack at once. */
  get all(): { apply: string; accept: string } {
    return { apply: `pulumi up --refresh ${this.#where}`, accept: `pulumi refresh ${this.#where}` };
  }

  /** For a difference between program and state. */
  change(finding: Pick<Finding, "kind" | "resource" | "properties" | "location">): Fixes {
    return {
      apply: { command: `pulumi up ${this.#where}` },
      accept: {
        edit: editOfChange(finding, this.language),
        command: `pulumi preview --expect-no-changes ${this.#where}`,
      },
    };
  }

  /** For a difference between state and service. */
  drift(
    finding: Pick<Finding, "kind" | "resource" | "properties" | "location">,
    argumentNames: readonly string[],
  ): Fixes {
    const target = `--target ${quoted(this.#target(finding.resource))}`;
    const { kind, properties, location } = finding;
    if (kind === "changed") {
      const declared = properties.filter(({ path }) => argumentNames.includes(topOf(path)));
      return {
        apply: { command: `pulumi up --refresh ${this.#where} ${target}` },
        accept: {
          ...(declared.length > 0 && { edit: `${declare(declared, this.language)}${at(location)}` }),
          command: `pulumi refresh ${this.#where} ${target}`,
        },
      };
    }
    return {
      apply: { command: `pulumi up --refresh ${this.#where} ${target} --target-dependents` },
      accept: {
        edit: `remove ${titleOf(finding.resource)} and what depends on it from the program${at(location)}`,
        command: `pulumi up --refresh ${this.#where}`,
      },
    };
  }

  /** For something that no stack holds. */
  unmanaged({ type, id, name, projectId }: Found, more: { numShards?: number }): Fixes {
    const noun = type === "Model" ? "models" : "datasets";
    const project = projectId === undefined ? "" : ` --project ${quoted(projectId)}`;
    const args = {
      existingId: id,
      name,
      ...(projectId !== undefined && { projectId }),
      ...more,
    };
    return {
      apply: { command: `recommender ${noun} delete ${quoted(id)}${project} ${this.#where}` },
      accept: {
        edit: `add ${this.language.declare(type, name, args)}`,
        command: `pulumi up ${this.#where}`,
      },
    };
  }

  /** A pattern that only this resource matches, or its URN. */
  #target({ urn }: ResourceRef): string {
    const { type, name } = partsOf(urn);
    const end = `${type.slice(type.lastIndexOf("recommender:"))}::${name}`;
    const unique = nounOf(type) !== undefined && this.urns.filter((other) => other.endsWith(end)).length <= 1;
    return unique && !/[*?[\]{}\\]/.test(end) ? `**${end}` : urn;
  }
}

/** The argument that a path is in. */
export function topOf(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? path;
}

function editOfChange(
  { kind, resource, properties, location }: Parameters<Commands["change"]>[0],
  language: Language,
): string {
  const title = titleOf(resource);
  if (kind === "created") return `remove ${title} from the program${at(location)}`;
  if (kind === "deleted") return `declare ${title} in the program again`;
  const own = properties.filter(({ unknown }) => !unknown);
  if (own.length > 0) return `${declare(own, language)}${at(location)}`;
  return properties.length > 0
    ? `nothing here: ${title} follows what it depends on`
    : `declare ${title} as it was${at(location)}`;
}

function declare(properties: readonly PropertyFinding[], language: Language): string {
  const values = properties.slice(0, mostValues).map(({ path, actual, secret }) => {
    // It follows from the source, and cannot be declared.
    if (path === "contentHash") return "the records as they were";
    const argument = language.argument(path);
    if (secret) return `${argument} with the secret that is there`;
    if (actual === undefined) return `no ${argument}`;
    const text = language.given(path, actual);
    return text.length > mostLength ? `${argument} as it is there` : text;
  });
  const more = properties.length - values.length;
  return `declare ${values.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function at(location: Location | undefined): string {
  return location ? ` in ${location.file}:${location.line}` : "";
}

/** A word of a command line, as a shell of POSIX reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
