import { type Interactions, InteractionsBuilder } from "../../../service/algorithms";
import { createRandom, type Random } from "../../../service/algorithms/random";
import { holdOut } from "../../../service/algorithms/training/evaluation";

/** A generated world: users choose items by hidden preferences and by popularity. */
export interface World {
  readonly interactions: Interactions;
  /** Genre of each item, which the model does not know. */
  readonly genres: number[];
  /** Genres that each user likes. */
  readonly likes: number[][];
}

interface WorldOptions {
  readonly users?: number;
  readonly items?: number;
  readonly genres?: number;
  readonly eventsPerUser?: number;
  readonly seed?: number;
}

/** Creates a world in which most of a user's events go to the genres that the user likes. */
export function createWorld(options: WorldOptions = {}): World {
  const { users = 400, items = 300, genres = 10, eventsPerUser = 20, seed = 1 } = options;
  const random = createRandom(seed);
  const genreOf = Array.from({ length: items }, () => random.below(genres));
  const likes = Array.from({ length: users }, () => [random.below(genres), random.below(genres)]);
  const builder = new InteractionsBuilder();
  likes.forEach((liked, user) => {
    for (let event = 0; event < eventsPerUser; event++) {
      let item = popular(random, items);
      for (let tries = 0; tries < 12 && !liked.includes(genreOf[item]); tries++)
        item = popular(random, items);
      builder.add(user, item, 1);
    }
  });
  return { interactions: builder.build(users, items), genres: genreOf, likes };
}

function popular(random: Random, items: number): number {
  return Math.floor(items * random.next() ** 2);
}

/** Hides a fifth of each user's items. */
export function hideSome(of: Interactions) {
  return holdOut(of, 0.2, 99);
}
