import fc from "fast-check";

/** Line of a source: an event, its value, and whether the service or the reader rejects it. */
export interface Line {
  readonly id: string;
  readonly value: number;
  readonly fault?: "rejected" | "unreadable" | undefined;
}

/** Change of a source. Positions and ids are taken modulo their number. */
export type Change =
  | { readonly do: "edit" | "remove" | "rename" | "reject" | "corrupt" | "repair"; readonly at: number }
  | { readonly do: "append" | "insert"; readonly at: number; readonly id: number }
  | { readonly do: "revert"; readonly at: number };

const at = fc.nat({ max: 30 });
const id = fc.nat({ max: 14 });

/** Arbitrary change of a source. */
export const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ do: fc.constantFrom("edit", "remove", "rename", "reject", "corrupt", "repair"), at }),
  fc.record({ do: fc.constantFrom("append", "append", "insert"), at, id }),
  fc.record({ do: fc.constant("revert"), at }),
) as fc.Arbitrary<Change>;

let values = 0;

/** Source with all its versions. */
export class SourceModel {
  readonly #versions: (readonly Line[])[] = [];

  constructor(private readonly name: string) {
    this.#versions.push(Array.from({ length: 10 }, (_, number) => this.#line(number)));
  }

  get lines(): readonly Line[] {
    return this.#versions.at(-1) as readonly Line[];
  }

  apply(change: Change): void {
    const lines = [...this.lines];
    const place = lines.length === 0 ? 0 : change.at % lines.length;
    const line = lines[place];
    if (change.do === "revert") {
      this.#versions.push(this.#versions[change.at % this.#versions.length] as readonly Line[]);
      return;
    }
    if (change.do === "append") lines.push(this.#line(change.id));
    else if (change.do === "insert") lines.splice(place, 0, this.#line(change.id));
    else if (change.do === "remove") lines.splice(place, 1);
    else if (line) lines[place] = this.#changed(line, change.do);
    this.#versions.push(lines);
  }

  /** Current version as NDJSON. */
  get text(): string {
    return this.lines
      .map(({ id, value, fault }) =>
        fault === "unreadable"
          ? "{ not JSON\n"
          : `${JSON.stringify({
              event_id: id,
              user_id: `user of ${id}`,
              item_id: "i",
              ts: 1_700_000_000_000,
              event_type: "t",
              attributes: { value, ...(fault && { rejected: true }) },
            })}\n`,
      )
      .join("");
  }

  /** Value of each id, from its last accepted line. */
  get expected(): Map<string, number> {
    return new Map(this.lines.flatMap(({ id, value, fault }) => (fault ? [] : [[id, value] as const])));
  }

  #line(number: number): Line {
    return { id: `${this.name}${number}`, value: ++values };
  }

  #changed(line: Line, how: "edit" | "rename" | "reject" | "corrupt" | "repair"): Line {
    const value = ++values;
    if (how === "edit") return { ...line, value };
    if (how === "rename") return this.#line(value % 15);
    const fault = { reject: "rejected", corrupt: "unreadable", repair: undefined } as const;
    return { ...line, value, fault: fault[how] };
  }
}
