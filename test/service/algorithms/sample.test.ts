import { trainG1 } from "../../../service/algorithms";
import { efforts } from "../../../service/algorithms/training/effort";
import { createWorld } from "./world";

const given = {
  dimensions: 8,
  alpha: 0.1,
  regularization: 0.01,
  damping: 0,
  weighting: "log",
  neighbours: 4,
} as const;

function chosenFor(users: number) {
  const { interactions } = createWorld({ users, items: 600, eventsPerUser: 120 });
  const { epochs, popularityExponent, similarityExponent } = trainG1({ interactions }, given).parameters;
  const isSample = interactions.index.length > efforts.balanced.pairs;
  return { isSample, epochs, popularityExponent, similarityExponent };
}

test("chooses epochs and popularity exponent on all users, but takes fixed ones with a sample", () => {
  expect(chosenFor(600)).toEqual({ isSample: false, epochs: 5, popularityExponent: 0.2 });
  const most = efforts.balanced.epochs.at(-1);
  // A sample only decides whether similarities are sharpened. The popularity exponent depends on that.
  const fixed = { similarityExponent: 1.5, popularityExponent: 0.3 };
  expect(chosenFor(4600)).toEqual({ isSample: true, epochs: most, ...fixed });
});
