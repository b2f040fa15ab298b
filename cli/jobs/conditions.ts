import { InvalidArgumentError } from "commander";
import type { z } from "zod";
import type { userListQuery } from "../../contract";

/** A condition on what users use, as the API expects it. */
export type Condition = z.input<typeof userListQuery>["conditions"][number];

const conditionPattern =
  /^(?<attribute>[^=]+)=(?<value>.*?)(?::(?<lower>-?[\d.]*?)\.\.(?<upper>-?[\d.]*))?$/s;

/** Parses the repeatable option `--where ATTRIBUTE=VALUE:MIN..MAX`. */
export function condition(text: string, earlier: readonly Condition[] = []): Condition[] {
  const { attribute, value, lower, upper } = conditionPattern.exec(text)?.groups ?? {};
  const [lowerBound, upperBound] = [bound(lower), bound(upper)];
  if (!attribute || value === undefined || Number.isNaN(lowerBound) || Number.isNaN(upperBound)) {
    throw new InvalidArgumentError(
      "Expected ATTRIBUTE=VALUE or ATTRIBUTE=VALUE:MIN..MAX, as in genre=jazz:0.5..1.",
    );
  }
  if (lowerBound !== undefined && upperBound !== undefined && lowerBound > upperBound)
    throw new InvalidArgumentError(`MIN ${lowerBound} is greater than MAX ${upperBound}.`);
  const bounds = {
    ...(lowerBound !== undefined && { lowerBound }),
    ...(upperBound !== undefined && { upperBound }),
  };
  return [...earlier, { attribute, value, ...bounds }];
}

function bound(text: string | undefined): number | undefined {
  return text ? Number(text) : undefined;
}
