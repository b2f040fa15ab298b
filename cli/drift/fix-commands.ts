import { partsOf, resourceTypeOf, titleOf } from "../../provider/run/urn";
import { cwdFlag, shellQuote } from "../stack/flags";
import type { Finding, Location, PropertyFinding, ResourceRef, Unmanaged } from "./finding";
import type { Language } from "./language";
import { shapeOf } from "./shapes";

type Fixes = Finding["fixes"];
type Found = Omit<Unmanaged, "fixes">;
type Values = Readonly<Record<string, unknown>>;

/** Facts about a pending change that its fix depends on. */
export interface ChangeContext {
  /** The arguments in the state. */
  readonly actual: Values;
  /** Returns the changed resource that an argument gets its value from, if any. */
  follows(argument: string): ResourceRef | undefined;
  /** Whether the deployment of the submitted job was rolled back, because its check failed. */
  readonly isUndone: boolean;
}

/** Arguments that the job of a resource sets. Programs cannot declare them. */
const jobArguments: readonly string[] = ["submittedJobId"];

/** Maximum number and length of the values in a suggested edit. The report lists all properties separately. */
const maxValues = 8;
const maxValueLength = 200;

/** Builds commands that fix the findings of one stack. Users run them in the current directory. */
export class FixCommands {
  /** Options that select the stack and its project. */
  readonly #stackFlags: string;

  constructor(
    readonly stack: string,
    cwd: string,
    private readonly urns: readonly string[],
    private readonly language: Language,
  ) {
    this.#stackFlags = `--stack ${shellQuote(stack)}${cwdFlag(cwd)}`;
  }

  /** Fixes for all drift of the stack. */
  get all(): { apply: string; accept: string } {
    return { apply: `pulumi up --refresh ${this.#stackFlags}`, accept: `pulumi refresh ${this.#stackFlags}` };
  }

  /** Fixes for a difference between program and state. */
  change(
    finding: Pick<Finding, "kind" | "resource" | "properties" | "location">,
    known: ChangeContext = { actual: {}, follows: () => undefined, isUndone: false },
  ): Fixes {
    const up = `pulumi up ${this.#stackFlags}`;
    return {
      apply: { command: up },
      accept: {
        edit: changeEdit(finding, known, this.language),
        // After a rollback, declaring the previous models submits a new deployment job, so the change needs an update.
        command: known.isUndone ? up : `pulumi preview --expect-no-changes ${this.#stackFlags}`,
      },
    };
  }

  /** Fixes for a difference between state and service. `actual` contains the values that the service reports. */
  drift(
    finding: Pick<Finding, "kind" | "resource" | "properties" | "location">,
    argumentNames: readonly string[],
    actual: Values = {},
  ): Fixes {
    const target = `--target ${shellQuote(this.#target(finding.resource))}`;
    const { kind, properties, location } = finding;
    // A deployment that is not serving has properties only if it still exists.
    if (kind === "changed" || properties.length > 0) {
      const declared = properties.filter(({ path }) => argumentNames.includes(argumentOf(path)));
      // The state of the deployment's job contains the models and `qps` too. Only an update changes them there.
      const isDeployed = finding.resource.type === "Deployment" && declared.length > 0;
      return {
        apply: { command: `pulumi up --refresh ${this.#stackFlags} ${target}` },
        accept: {
          ...(declared.length > 0 && {
            edit: `${declare(finding.resource.type, declared, actual, this.language)}${inFile(location)}`,
          }),
          command: isDeployed ? this.all.apply : `pulumi refresh ${this.#stackFlags} ${target}`,
        },
      };
    }
    return {
      apply: { command: `pulumi up --refresh ${this.#stackFlags} ${target} --target-dependents` },
      accept: {
        edit: `remove ${titleOf(finding.resource)} and its dependents from the program${inFile(location)}`,
        command: `pulumi up --refresh ${this.#stackFlags}`,
      },
    };
  }

  /** Fixes for an object that no stack manages. */
  unmanaged({ type, id, name, projectId }: Found, more: { numShards?: number }): Fixes {
    const group = type === "Model" ? "models" : "datasets";
    const project = projectId === undefined ? "" : ` --project ${shellQuote(projectId)}`;
    const taken = this.urns.map((urn) => partsOf(urn).name);
    // A resource needs a name that no other resource of the stack has.
    const free =
      (name.trim() === "" ? [] : [name, `${name}-${id}`]).find((one) => !taken.includes(one)) ?? id;
    const args = {
      existingId: id,
      ...(name.trim() !== "" && { name }),
      ...(projectId !== undefined && { projectId }),
      ...more,
    };
    return {
      apply: { command: `recommender ${group} delete ${shellQuote(id)}${project} ${this.#stackFlags}` },
      accept: {
        edit: `add ${this.language.formatDeclaration(type, free, args)}`,
        command: `pulumi up ${this.#stackFlags}`,
      },
    };
  }

  /** Fix for an object that a replacement or deletion left behind. */
  orphan(id: string): { apply: { command: string } } {
    return { apply: { command: `recommender orphans delete ${shellQuote(id)} ${this.#stackFlags}` } };
  }

  /** Returns a short `--target` pattern that matches only this resource, or else its URN. */
  #target({ urn }: ResourceRef): string {
    const { type, name } = partsOf(urn);
    const end = `${type.slice(type.lastIndexOf("recommender:"))}::${name}`;
    const isUnique =
      resourceTypeOf(type) !== undefined && this.urns.filter((other) => other.endsWith(end)).length <= 1;
    return isUnique && !/[*?[\]{}\\]/.test(end) ? `**${end}` : urn;
  }
}

/** Returns the top-level argument that a property path starts with. */
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
  if (causes.length > 0) return `nothing to edit here: ${title} follows ${[...new Set(causes)].join(", ")}`;
  return properties.length > 0
    ? `nothing to edit here: ${title} follows its dependencies`
    : `restore the declaration of ${title}${inFile(location)}`;
}

/**
 * Returns an instruction to declare arguments. It always shows whole arguments, because a part of an argument is not a
 * valid expression.
 */
function declare(
  type: string,
  properties: readonly PropertyFinding[],
  actual: Values,
  language: Language,
): string {
  const names = [...new Set(properties.map(({ path }) => argumentOf(path)))];
  const values = names.slice(0, maxValues).map((name) => {
    // Computed from the source, so programs cannot declare it.
    if (name === "contentHash") return "the former records";
    const [first, ...others] = properties.filter(({ path }) => argumentOf(path) === name);
    const argument = language.argumentName(name);
    if (first?.secret || others.some(({ secret }) => secret)) return `${argument} with the current secret`;
    const isWhole = first?.path === name && others.length === 0;
    const value = actual[name] ?? (isWhole ? first.actual : undefined);
    if (value === undefined || value === null) return isWhole ? `no ${argument}` : `the former ${argument}`;
    const text = language.formatArgument(name, value, shapeOf(type, name));
    return text.length > maxValueLength ? `${argument} with the current value` : text;
  });
  const more = names.length - values.length;
  return `declare ${values.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function inFile(location: Location | undefined): string {
  return location ? ` in ${location.file}:${location.line}` : "";
}
