/** Randomness as an argument: from 0 up to, but not including, 1. Tests pass a seeded one. Not for secrets. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
