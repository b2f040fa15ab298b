import { z } from "zod";
import { decode, encode, wireSchema } from "../../../contract";
import { type OrderModel, type OrderRule, withoutEmpty } from "../../algorithms";
import { allWithin } from "./numbers";
import { FormatError, type OpenSections, type Section } from "./sections";

const number = z.number();
const positive = z.number().positive();
const nonnegative = z.number().nonnegative();

const rule: z.ZodType<OrderRule> = z.object({
  scale: nonnegative,
  distance: positive,
  opposite: nonnegative,
  recency: positive,
  gapExponent: nonnegative,
  typicalGap: positive,
  itemExponent: number,
  popularityExponent: number,
  firstTime: number,
  timeStep: positive,
});

/** Header of the rule for the order of events. */
export const orderHeader = wireSchema(rule);

/** Returns the header of the rule for the order of events. */
export function writtenOrder(order: OrderModel): unknown {
  return encode(rule, order.rule);
}

/** Returns the sections of the order of events: the table, and the time of each interaction. */
export function orderSections({ table }: OrderModel, steps: Uint32Array): Record<string, Section> {
  const { start, index, amount } = withoutEmpty(table);
  const list = (values: Uint32Array): Section => ({ values, shape: [values.length] });
  return {
    order_starts: list(start),
    order_items: list(index),
    order_amounts: list(amount),
    interaction_times: list(steps),
  };
}

/** Reads and checks the rule and the table for the order of events. */
export async function readOrder(
  sections: OpenSections,
  header: unknown,
  items: number,
): Promise<OrderModel | undefined> {
  if (header === undefined) return undefined;
  const start = await sections.read("order_starts", "uint32", [items + 1]);
  for (let item = 0; item < items; item++)
    if ((start[item] as number) > (start[item + 1] as number))
      throw new FormatError("has order_starts that do not ascend");
  if (start[0] !== 0) throw new FormatError("has order_starts that do not start at 0");
  const pairs = start[items] as number;
  const index = await sections.read("order_items", "uint32", [pairs]);
  if (!allWithin(index, 0, items - 1)) throw new FormatError("has order_items beyond the last item");
  const amount = await sections.read("order_amounts", "uint32", [pairs]);
  return { rule: decode(rule, header) as OrderRule, table: { start, index, amount } };
}
