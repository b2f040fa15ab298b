import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import ts from "typescript";
import { command } from "../service/process";

/** The text that a screen gives in a language. */
export async function codeOf(page: Page, language: string): Promise<string> {
  const code = page.locator("details.code").last();
  if ((await code.getAttribute("open")) === null) await code.locator("summary").click();
  await code.getByRole("button", { name: language, exact: true }).click();
  return (await code.locator("pre").textContent()) ?? "";
}

/** What a shell prints for a text, which names the command as users have it. */
export async function inShell(text: string): Promise<string> {
  const whole = `recommender() { '${process.execPath}' '${command}' "$@"; }\n${text}`;
  return (await promisify(execFile)("bash", ["-c", whole], { cwd: folder })).stdout;
}

/** What curl gets, with the key from where the screen says that it lies. */
export async function byCurl(page: Page): Promise<Record<string, unknown>> {
  const text = await codeOf(page, "curl");
  const key = await page.locator("details.code").last().locator("p code").textContent();
  return JSON.parse(await inShell(`${key}\n${text}`)) as Record<string, unknown>;
}

/** Where texts are run, for all tests of a file. */
export const folder = mkdtempSync(join(__dirname, "texts-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What the compiler says of programs. */
export function faultsOf(programs: Readonly<Record<string, string>>): string[] {
  const root = join(__dirname, "../..");
  const files = Object.entries(programs).map(([name, text]) => {
    const file = join(folder, `${name}.ts`);
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
