import type { UploadPreview } from "../../records/upload-preview";
import { CommandError, exitCodes } from "../terminal/exit";
import { propertyList } from "../terminal/layout";
import { formatCount, formatNumber, formatTime, print } from "../terminal/output";
import type { ImportOptions, ImportPlan } from "./import-plan";

/** Shows what an import would do, without calling the service. Fails if the import would fail. */
export async function dryRun(plan: ImportPlan, options: ImportOptions): Promise<void> {
  const { previewUpload } = await import("../../records/upload-preview.js");
  const { kind, mapping } = plan;
  const files = await plan.files();
  const found = await previewUpload(files, kind, mapping);
  const outcome = {
    files: files.map(({ displayName, format, bytes }) => ({ file: displayName, format, bytes })),
    mapping,
    ...found,
  };
  const problem = problemOf(plan, found, options);
  if (!problem || !options.json) print(options, outcome, () => describe(plan, files.length, found));
  if (problem) throw new CommandError(problem.message, problem.exitCode, outcome);
}

function problemOf({ displayName }: ImportPlan, found: UploadPreview, { maxFailures }: ImportOptions) {
  const { missing, proposed, failedCount = 0 } = found;
  const needed = [
    ...Object.entries(proposed).map(([field, column]) => `--map ${field}=${column}`),
    ...missing.map(({ field }) => `--map ${field}=COLUMN`),
  ];
  if (needed.length > 0) {
    const remedy = [...new Set(needed)].join(" ");
    return { message: `Cannot import ${displayName} yet. Add ${remedy}`, exitCode: exitCodes.failed };
  }
  if (failedCount <= maxFailures) return undefined;
  const message = `${formatCount(failedCount, "record")} would be rejected, and --max-failures is ${maxFailures}.`;
  return { message, exitCode: exitCodes.rejected };
}

function describe(
  { kind, mapping, displayName }: ImportPlan,
  fileCount: number,
  found: UploadPreview,
): string {
  const { columns, proposed, missing, recordCount, failedCount = 0, refusals = [], firstTs, lastTs } = found;
  const fieldSource = (field: string): string | undefined => {
    const given = mapping[field];
    if (missing.some((one) => one.field === field)) return "no column";
    if (proposed[field] !== undefined) return `${proposed[field]} (proposed)`;
    if (typeof given === "object" && "value" in given) return JSON.stringify(given.value);
    if (given !== undefined) return [given].flat().join(", ");
    return columns.find((column) => column.replaceAll("_", "").toLowerCase() === field.toLowerCase());
  };
  const lines = propertyList([
    ["source", fileCount === 1 ? displayName : `${displayName} (${formatCount(fileCount, "file")})`],
    ["columns", columns.join(", ")],
    ...kind.fields.map((field) => [field, fieldSource(field)] as const),
    [`${kind.type}s`, recordCount === undefined ? undefined : formatNumber(recordCount)],
    ["rejected", recordCount === undefined ? undefined : formatNumber(failedCount)],
    ["first", formatTime(firstTs)],
    ["last", formatTime(lastTs)],
  ]);
  const reasons = refusals.map(({ count, reason, source: file, line }) => {
    const place = count === 1 ? `${file}:${line}` : `first ${file}:${line}`;
    return `- ${formatNumber(count)}: ${reason} (${place})\n`;
  });
  return `${lines}${reasons.length > 0 ? `\nRejected:\n${reasons.join("")}` : ""}`;
}
