import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EngineEvent } from "@pulumi/pulumi/automation";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = `
import * as fs from "node:fs/promises";
import * as pulumi from "@pulumi/pulumi";

class Note extends pulumi.dynamic.Resource {
  declare readonly text: pulumi.Output<string>;
  constructor(name: string, args: { file: string; text: string }) {
    super({
      async create(note) {
        await fs.writeFile(note.file, note.text);
        return { id: note.file, outs: note };
      },
      async read(file) {
        const note = { file, text: await fs.readFile(file, "utf8") };
        return { id: file, props: note, inputs: note };
      },
      async delete(file) {
        await fs.rm(file);
      },
    }, name, args, undefined, "test", "Note");
  }
}

export const text = new Note("note", { file: process.env.NOTE_FILE!, text: "as declared" }).text;
`;

describe("a dynamic resource in the real engine", () => {
  let workspace: EngineWorkspace;
  let file: string;

  beforeAll(async () => {
    workspace = await engineWorkspace(program);
    file = join(workspace.directory, "note.txt");
    workspace.stack.workspace.envVars.NOTE_FILE = file;
  });
  afterAll(() => workspace.dispose());

  test("is created", async () => {
    const events: EngineEvent[] = [];
    const { outputs } = await workspace.stack.up({ onEvent: (event) => events.push(event) });
    expect(outputs.text?.value).toBe("as declared");
    expect(await readFile(file, "utf8")).toBe("as declared");
    expect(stepsOf(events)).toContainEqual(["create", "pulumi-nodejs:dynamic/test:Note"]);
  });

  test("is not updated if nothing changed", async () => {
    const { summary } = await workspace.stack.up();
    expect(summary.resourceChanges).toEqual({ same: 2 });
  });

  test("is read by a refresh if it was changed outside", async () => {
    await writeFile(file, "changed outside");
    const { summary } = await workspace.stack.refresh();
    expect(summary.resourceChanges).toMatchObject({ update: 1 });
    const { deployment } = await workspace.stack.exportStack();
    const note = deployment.resources.find(({ id }: { id?: string }) => id === file);
    expect(note.outputs.text).toBe("changed outside");
  });

  test("is destroyed", async () => {
    const { summary } = await workspace.stack.destroy();
    expect(summary.resourceChanges).toEqual({ delete: 2 });
    expect(existsSync(file)).toBe(false);
  });
});

function stepsOf(events: EngineEvent[]): [string, string][] {
  return events.flatMap(({ resourcePreEvent }) =>
    resourcePreEvent ? [[resourcePreEvent.metadata.op, resourcePreEvent.metadata.type]] : [],
  );
}
