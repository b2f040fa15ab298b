import fc from "fast-check";
import { type CarrierName, carrierNames } from "./carriers";

/** What carries the runs of a stack, and whether its program is in TypeScript: others have the plugin alone. */
export interface Carriage {
  readonly isTypeScript: boolean;
  /** One after the other, and then from the beginning. */
  readonly carriers: readonly CarrierName[];
}

/** What there was before the plugin. */
export const onlyDynamic: Carriage = { isTypeScript: true, carriers: ["dynamic"] };

/** Programs in TypeScript change between the carriers from run to run. */
export const carriages: fc.Arbitrary<Carriage> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      isTypeScript: fc.constant(true),
      carriers: fc.array(fc.constantFrom(...carrierNames), { minLength: 1, maxLength: 7 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Carriage>({ isTypeScript: false, carriers: ["plugin"] }) },
);
