/** Where data lies unless a folder is given; the provider's default too. */
export const defaultDataDir = ".recommender";
