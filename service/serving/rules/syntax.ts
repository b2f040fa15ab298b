import { expressionsIn, type Rules } from "../../../contract";
import { ExpressionError, parse } from "../../../expressions/parse";
import { ServiceError } from "../../base/error";

/** Throws if an expression of the rules cannot be parsed. Its attributes are checked when the rules are deployed. */
export async function requireSyntax(rules: Rules): Promise<void> {
  const details: { path: string; message: string }[] = [];
  for (const { path, text } of expressionsIn(rules))
    await parse(text).catch((error) => {
      if (!(error instanceof ExpressionError)) throw error;
      details.push({ path: `rules.${path}`, message: error.message });
    });
  if (details.length > 0)
    throw new ServiceError("BAD_REQUEST", "The request is invalid. See `details`.", { details });
}
