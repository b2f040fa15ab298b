import { type LocalWorkspace, Stack } from "@pulumi/pulumi/automation";

/**
 * Opens a stack through the Automation API. The API runs the engine more often than needed, and each run takes
 * seconds, so three of its methods are replaced. test/cli/stack/automation-stack.test.ts fails if an update of the
 * library makes the replacements ineffective.
 */
export async function openAutomationStack(name: string, workspace: LocalWorkspace): Promise<Stack> {
  // Selecting the stack would change which stack the user's own `pulumi` commands work on.
  workspace.selectStack = async () => {};
  const stack = await Stack.select(name, workspace);
  // After each update, the Automation API reads the outputs twice and the history once. No command uses them.
  stack.outputs = async () => ({});
  stack.info = async () => undefined;
  return stack;
}
