import { logicalName, nounOf } from "../../provider/run/urn";

/** A resource of ours in the state of a stack. */
export interface StackResource {
  /** Its noun. */
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** What a command reads of a stack: its configuration, and what it holds. */
export interface StackView {
  readonly name: string;
  /** The folder that relative paths of the program start from. */
  readonly programFolder: string;
  readonly resources: readonly StackResource[];
  config(key: string): string | undefined;
}

/** Reads a stack without selecting it or changing anything. */
export async function readStack(name: string, cwd = "."): Promise<StackView> {
  const { OpenStack } = await import("./open.js");
  const open = await OpenStack.open({ cwd, stack: name });
  const [{ resources }, config] = await Promise.all([open.state(), open.config()]);
  return {
    ...{ name, programFolder: open.programFolder, config },
    resources: resources.flatMap(({ type, urn, id, outputs = {}, delete: going }) => {
      const noun = nounOf(type);
      return noun && id && !going ? [{ type: noun, name: logicalName(urn), id, outputs }] : [];
    }),
  };
}
