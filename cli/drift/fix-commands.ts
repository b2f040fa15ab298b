import { nounOf, partsOf, titleOf } from "../../provider/run/urn";
import { cwdFlag, shellQuote } from "../stack/flags";
import type { Finding, Location, PropertyFinding, ResourceRef, Unmanaged } from "./finding";
import type { Language } from "./language";
import { shapeOf } from "./shapes";

type Fixes = Finding["fixes"];
type Found = Omit<Unmanaged, "fixes">;
type Values = Readonly<Record<string, unknown>>;

/** What is known of a pending change beside its properties. */
export interface ChangeContext {
  /** The arguments that the state holds. */
  readonly actual: Values;
  /** Another resource that changes too and that an argument comes from. */
  follows(argument: string): ResourceRef | undefined;
  /** Whether a rollback has undone what the submitted job deployed. */
  readonly isUndone: boolean;
}

/** Arguments that follow from the job beside a resource; no class of TypeScript has them. */
const jobArguments: readonly string[] = ["submittedJobId"];

/** At most so much is put into one sentence; all properties are listed beside it. */
const maxValues = 8;
const maxValueLength = 200;

/** The commands that fix what is found in one stack, for the folder that `recommender drift` was called in. */
export class FixCommands {
  readonly #where: string;

  constructor(
    readonly stack: string,
    cwd: string,
    private readonly urns: readonly string[],
    private readonly language: Language,
  ) {
    this.#where = `--stack ${shellQuote(stack)}${cwdFlag(cwd)}`;
  }

  /** For all drift of the stack at once. */
  get all(): { apply: string; accept: string } {
    return { apply: `pulumi up --refresh ${this.#where}`, accept: `pulumi refresh ${this.#where}` };
  }

  /** For a difference between program and state. */
  change(
    finding: Pick<Finding, "kind" | "resource" | "properties" | "location">,
    known: ChangeContext = { actual: {}, follows: () => undefined, isUndone: false },
  ): Fixes {
    const up = `pulumi up ${this.#where}`;
    return {
      apply: { command: up },
      accept: {
        edit: changeEdit(finding, known, this.language),
        // The former models serve again, but their job is another: declaring them deploys them once more.
        command: known.isUndone ? up : `pulumi preview --expect-no-changes ${this.#where}`,
      },
    };
  }

  /** For a difference between state and service; `actual` is what the service holds. */
  drift(
    finding: Pick<Finding, "kind" | "resource" | "properties" | "location">,
    argumentNames: readonly string[],
    actual: Values = {},
  ): Fixes {
    const target = `--target ${shellQuote(this.#target(finding.resource))}`;
    const { kind, properties, location } = finding;
    if (kind === "changed") {
      const declared = properties.filter(({ path }) => argumentNames.includes(argumentOf(path)));
      // The job beside a deployment declares the same models and `qps`: only an update takes them into the state.
      const isDeployed = finding.resource.type === "Deployment" && declared.length > 0;
      return {
        apply: { command: `pulumi up --refresh ${this.#where} ${target}` },
        accept: {
          ...(declared.length > 0 && {
            edit: `${declare(finding.resource.type, declared, actual, this.language)}${inFile(location)}`,
          }),
          command: isDeployed ? this.all.apply : `pulumi refresh ${this.#where} ${target}`,
        },
      };
    }
    return {
      apply: { command: `pulumi up --refresh ${this.#where} ${target} --target-dependents` },
      accept: {
        edit: `remove ${titleOf(finding.resource)} and what depends on it from the program${inFile(location)}`,
        command: `pulumi up --refresh ${this.#where}`,
      },
    };
  }

  /** For something that no stack holds. */
  unmanaged({ type, id, name, projectId }: Found, more: { numShards?: number }): Fixes {
    const noun = type === "Model" ? "models" : "datasets";
    const project = projectId === undefined ? "" : ` --project ${shellQuote(projectId)}`;
    const taken = this.urns.map((urn) => partsOf(urn).name);
    // A second resource of the same name would be refused, and a resource needs a name.
    const free =
      (name.trim() === "" ? [] : [name, `${name}-${id}`]).find((one) => !taken.includes(one)) ?? id;
    const args = {
      existingId: id,
      ...(name.trim() !== "" && { name }),
      ...(projectId !== undefined && { projectId }),
      ...more,
    };
    return {
      apply: { command: `recommender ${noun} delete ${shellQuote(id)}${project} ${this.#where}` },
      accept: {
        edit: `add ${this.language.formatDeclaration(type, free, args)}`,
        command: `pulumi up ${this.#where}`,
      },
    };
  }

  /** For something that a replacement or a deletion left behind. */
  orphan(id: string): { apply: { command: string } } {
    return { apply: { command: `recommender orphans delete ${shellQuote(id)} ${this.#where}` } };
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
export function argumentOf(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? path;
}

function changeEdit(
  { kind, resource, properties, location }: Parameters<FixCommands["change"]>[0],
  { actual, follows }: ChangeContext,
  language: Language,
): string {
  const title = titleOf(resource);
  if (kind === "created") return `remove ${title} from the program${inFile(location)}`;
  if (kind === "deleted") return `declare ${title} in the program again`;
  const own = properties.filter(
    ({ path, unknown }) => !unknown && !jobArguments.includes(argumentOf(path)) && !follows(argumentOf(path)),
  );
  if (own.length > 0) return `${declare(resource.type, own, actual, language)}${inFile(location)}`;
  const causes = properties.flatMap(({ path }) => follows(argumentOf(path)) ?? []).map(titleOf);
  if (causes.length > 0) return `nothing here: ${title} follows ${[...new Set(causes)].join(", ")}`;
  return properties.length > 0
    ? `nothing here: ${title} follows what it depends on`
    : `declare ${title} as it was${inFile(location)}`;
}

/** Whole arguments, as a program declares them: a part of one is no expression of any language. */
function declare(
  type: string,
  properties: readonly PropertyFinding[],
  actual: Values,
  language: Language,
): string {
  const names = [...new Set(properties.map(({ path }) => argumentOf(path)))];
  const values = names.slice(0, maxValues).map((name) => {
    // It follows from the source, and cannot be declared.
    if (name === "contentHash") return "the records as they were";
    const [first, ...others] = properties.filter(({ path }) => argumentOf(path) === name);
    const argument = language.argumentName(name);
    if (first?.secret || others.some(({ secret }) => secret))
      return `${argument} with the secret that is there`;
    const isWhole = first?.path === name && others.length === 0;
    const value = actual[name] ?? (isWhole ? first.actual : undefined);
    if (value === undefined || value === null) return isWhole ? `no ${argument}` : `${argument} as it was`;
    const text = language.formatArgument(name, value, shapeOf(type, name));
    return text.length > maxValueLength ? `${argument} as it is there` : text;
  });
  const more = names.length - values.length;
  return `declare ${values.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function inFile(location: Location | undefined): string {
  return location ? ` in ${location.file}:${location.line}` : "";
}
