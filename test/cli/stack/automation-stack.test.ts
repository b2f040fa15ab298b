import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalWorkspace, type PulumiCommand } from "@pulumi/pulumi/automation";
import { openAutomationStack } from "../../../cli/stack/automation-stack";

const directory = mkdtempSync(join(tmpdir(), "recommender-automation-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Opens a stack whose engine only records its commands. */
async function openRecorded() {
  writeFileSync(join(directory, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  const commands: string[] = [];
  const pulumiCommand = {
    command: "pulumi",
    version: null,
    run: async (args: string[]) => {
      commands.push(args.slice(0, args[0] === "stack" ? 2 : 1).join(" "));
      return { stdout: "{}", stderr: "", code: 0 };
    },
  } as unknown as PulumiCommand;
  const workspace = await LocalWorkspace.create({ workDir: directory, pulumiCommand });
  return { stack: await openAutomationStack("dev", workspace), commands };
}

describe("the Automation API of @pulumi/pulumi", () => {
  test("opens a stack without selecting it", async () => {
    expect((await openRecorded()).commands).not.toContain("stack select");
  });

  test.each(["up", "refresh"] as const)(
    "runs the engine once for %s. If this fails, the library has changed: adapt openAutomationStack",
    async (operation) => {
      const { stack, commands } = await openRecorded();
      commands.length = 0;
      await stack[operation]();
      expect(commands).toEqual([operation]);
    },
  );
});
