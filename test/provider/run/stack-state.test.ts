import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliStackState } from "../../../provider/run/stack-state";
import { stateEntryOf } from "../../../provider/run/state-entry";

const directory = mkdtempSync(join(tmpdir(), "recommender-stack-state-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Returns the state that a script prints instead of the Pulumi CLI. */
function stateFrom(script: string, timeoutMs: number) {
  const program = join(directory, "pulumi");
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return cliStackState({ program, timeoutMs });
}

const row = stateEntryOf("EventDataset", "x", { __urn: "urn:pulumi:dev::shop::t::clicks" });

test("an export that takes too long fails with the command and the fix, without a second try", async () => {
  await expect(stateFrom("exec sleep 60", 300).entries(row)).rejects.toThrow(
    /^cannot read the state of stack dev: `pulumi stack export --stack dev` took longer than 0.3 s\. Run `pulumi stack export --stack dev` yourself to see the cause: .*, and run the same command again\.$/,
  );
});

test("a failed export reports the error of each command", async () => {
  const script = `echo "error: no stack named 'dev' found" >&2; exit 255`;
  await expect(stateFrom(script, 60_000).entries(row)).rejects.toThrow(
    /dev`: no stack named 'dev' found; `pulumi stack export`: no stack named 'dev' found\. Put `pulumi` on PATH/,
  );
});
