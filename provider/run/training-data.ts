import { closestMatch, truncate } from "../../contract/messages";
import type { TypeSearch } from "../../records/event-types";
import type { Urn } from "./engine";
import { unknownValue } from "./unknown-value";
import { partsOf, titleOf } from "./urn";

const list = new Intl.ListFormat("en");

/** Maximum number of types in a message. */
const shownTypes = 10;

/** Declared project. */
interface Project {
  readonly targetEventType: string;
  /** May be unknown. */
  readonly eventDatasetId: string;
}

/** Declared source of events. */
interface Source {
  /** May be unknown. */
  readonly eventDatasetId: string;
  /** Whether messages may show the event types. False if the source is secret. */
  readonly mayShowTypes: boolean;
  search(eventType: string): Promise<TypeSearch>;
}

/** Error if a training would find no events of its target type. */
export interface MissingTarget {
  readonly reason: string;
  /** Whether the dataset gets events only from the program's sources. */
  readonly isCertain: boolean;
}

/**
 * Declared projects, sources and datasets. A preview uses them to check whether there are events of the target type.
 */
export class TrainingData {
  readonly #projects = new Map<Urn, Project>();
  readonly #sources = new Map<Urn, Source>();
  readonly #datasets = new Map<Urn, { readonly isAdopted: boolean }>();

  constructor(
    /** Whether the run creates the object of a resource, as a new object or as a replacement. */
    private readonly isCreated: (urn: Urn) => boolean,
  ) {}

  declareProject(urn: Urn, project: Project): void {
    this.#projects.set(urn, project);
  }

  declareSource(urn: Urn, source: Source): void {
    this.#sources.set(urn, source);
  }

  declareDataset(urn: Urn, isAdopted: boolean): void {
    this.#datasets.set(urn, { isAdopted });
  }

  /**
   * Returns an error if a new project has no events of its target type. In a preview, all new projects have the same
   * unknown id, so the error is returned only if it applies to each of them. Returns undefined if the program has no
   * sources for a project.
   */
  async missingTarget(projectId: unknown): Promise<MissingTarget | undefined> {
    if (projectId !== unknownValue) return undefined;
    const created = [...this.#projects].filter(([urn]) => this.isCreated(urn));
    const faults = await Promise.all(created.map(([urn, project]) => this.#faultOf(urn, project)));
    return faults.every((fault) => fault !== undefined) ? faults[0] : undefined;
  }

  async #faultOf(urn: Urn, project: Project): Promise<MissingTarget | undefined> {
    const { targetEventType, eventDatasetId } = project;
    const sources = [...this.#sources.values()].filter((source) => source.eventDatasetId === eventDatasetId);
    if (sources.length === 0) return undefined;
    const found = await Promise.all(sources.map((source) => source.search(targetEventType))).catch(
      // The resource of the source reports the error.
      () => undefined,
    );
    if (!found || found.some(({ isThere }) => isThere)) return undefined;
    const types = sources.every(({ mayShowTypes }) => mayShowTypes)
      ? [...new Set(found.flatMap(({ others }) => others))]
      : [];
    const meant = closestMatch(targetEventType, types);
    const reason =
      `no source in the program has an event of type ${JSON.stringify(truncate(targetEventType))}, ` +
      `the targetEventType of ${titleOf(partsOf(urn))}` +
      (types.length > 0 ? `; the types found are ${shownList(types)}` : "") +
      (meant === undefined ? "" : `. Did you mean ${JSON.stringify(meant)}?`);
    return { reason, isCertain: this.#isEmptyBefore(eventDatasetId) };
  }

  /** Whether the run creates the dataset, so it is empty before the uploads. */
  #isEmptyBefore(eventDatasetId: string): boolean {
    const created = [...this.#datasets].filter(([urn]) => this.isCreated(urn));
    return (
      eventDatasetId === unknownValue &&
      created.length > 0 &&
      created.every(([, { isAdopted }]) => !isAdopted)
    );
  }
}

function shownList(types: readonly string[]): string {
  const shown = types.slice(0, shownTypes).map((type) => JSON.stringify(truncate(type)));
  return list.format(types.length > shownTypes ? [...shown, "others"] : shown);
}
