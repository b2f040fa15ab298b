import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import ts from "typescript";
import { command } from "../service/process";

/** Returns the code sample of a screen in a language. */
export async function codeOf(page: Page, language: string): Promise<string> {
  const code = page.locator("details.code").last();
  if ((await code.getAttribute("open")) === null) await code.locator("summary").click();
  await code.getByRole("button", { name: language, exact: true }).click();
  return (await code.locator("pre").textContent()) ?? "";
}

/** Runs commands in bash, with `recommender` as a command, and returns the output. */
export async function inShell(text: string): Promise<string> {
  const whole = `recommender() { '${process.execPath}' '${command}' "$@"; }\n${text}`;
  return (await promisify(execFile)("bash", ["-c", whole], { cwd: directory })).stdout;
}

/** Runs the curl sample of a screen, with the key from the place that the screen names. */
export async function byCurl(page: Page): Promise<Record<string, unknown>> {
  const text = await codeOf(page, "curl");
  const key = await page.locator("details.code").last().locator("p code").textContent();
  return JSON.parse(await inShell(`${key}\n${text}`)) as Record<string, unknown>;
}

/** The directory in which commands run, for all tests of a file. */
export const directory = mkdtempSync(join(__dirname, "texts-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Returns the compiler errors of programs. */
export function faultsOf(programs: Readonly<Record<string, string>>): string[] {
  const root = join(__dirname, "../..");
  const files = Object.entries(programs).map(([name, text]) => {
    const file = join(directory, `${name}.ts`);
    writeFileSync(file, text);
    return file;
  });
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.CommonJS,
    paths: { "pulumi-recommender": [join(root, "dist/provider/index.d.ts")] },
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
