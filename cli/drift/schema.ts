import { z } from "zod";
import { reportSchema } from "./finding";

/** The schema of the JSON report, as JSON Schema of 2020-12. */
export function jsonSchema(): object {
  return z.toJSONSchema(reportSchema);
}
