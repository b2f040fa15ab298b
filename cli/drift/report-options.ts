import { type Command, InvalidArgumentError, Option } from "commander";
import { commaSeparated } from "../terminal/option-values";
import type { FailCondition } from "./fail-on";

/** Differences between the options of the commands that report findings. */
interface ReportOptions {
  /** Output of the command, as in help texts: "review". */
  readonly what: string;
  readonly formats: readonly string[];
  /** Values that `--fail-on` accepts. */
  readonly conditions: readonly FailCondition[];
  /** Default of `--fail-on`. */
  readonly failOn: readonly FailCondition[];
}

/** Adds `--cwd`, `--format`, `--json`, `--output` and `--fail-on` to a command. */
export function addReportOptions(
  command: Command,
  { what, formats, conditions, failOn }: ReportOptions,
): Command {
  const parse = (text: string): readonly FailCondition[] => {
    const given = commaSeparated(text) as FailCondition[];
    if (given.every((one) => conditions.includes(one))) return given;
    throw new InvalidArgumentError(`Expected one or more of ${conditions.join(", ")}, comma-separated.`);
  };
  const collect = (file: string, earlier: string[] = []): string[] => [...earlier, file];
  return command
    .option("--cwd <dir>", "project directory", ".")
    .addOption(new Option("--format <name>", `format of the ${what} (default: text)`).choices(formats))
    .option("--json", "the same as --format json")
    .option("--output <file>", `write the ${what} to a file; may be repeated`, collect)
    .option(
      "--fail-on <what>",
      `${conditions.slice(0, -1).join(", ")} or ${conditions.at(-1)}, comma-separated`,
      parse,
      failOn,
    );
}
