// Owns quorum arithmetic: how much voting power decides, and how much is sure to hold an honest vote. It
// lives nowhere else.

/** The least power that is strictly more than two thirds of `total` (2f+1). */
export const powerNeeded = (total: bigint): bigint => (total * 2n) / 3n + 1n;

/** "+2/3": strictly more than two thirds of `total`. */
export const hasTwoThirds = (sum: bigint, total: bigint): boolean => sum * 3n > total * 2n;

/** At least a third of `total`: without it no two thirds come together. */
export const canBlock = (power: bigint, total: bigint): boolean => power * 3n >= total;

/** Strictly more than one third of `total` (f+1): at least one honest voter is among them. */
export const moreThanThird = (sum: bigint, total: bigint): boolean => sum * 3n > total;
