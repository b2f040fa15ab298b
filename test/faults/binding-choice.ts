import fc from "fast-check";
import { type BindingName, bindingNames } from "./bindings";

/** Bindings of the runs of a stack, and whether its program is in TypeScript. Other languages always use the plugin. */
export interface BindingChoice {
  readonly isTypeScript: boolean;
  /** Used in turn. */
  readonly bindings: readonly BindingName[];
}

/** Only dynamic resources, as before the plugin existed. */
export const onlyDynamic: BindingChoice = { isTypeScript: true, bindings: ["dynamic"] };

/** Programs in TypeScript change between the bindings from run to run. */
export const bindingChoices: fc.Arbitrary<BindingChoice> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      isTypeScript: fc.constant(true),
      bindings: fc.array(fc.constantFrom(...bindingNames), { minLength: 1, maxLength: 7 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<BindingChoice>({ isTypeScript: false, bindings: ["plugin"] }) },
);
