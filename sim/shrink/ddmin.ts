// Delta debugging (Zeller and Hildebrandt, ddmin): the parts of a failing whole that are needed for it to
// fail.

/**
 * A list of which no single part can be left out. `fails` says whether these parts alone still fail; it holds for `all`, and is asked of
 * every list at most once by whoever remembers.
 */
export function ddmin<T>(all: readonly T[], fails: (kept: readonly T[]) => boolean): readonly T[] {
  if (all.length === 0 || fails([])) return [];
  let kept = all;
  let pieces = 2;
  while (kept.length > 1) {
    const smaller = reduced(kept, pieces, fails);
    if (smaller) {
      kept = smaller.kept;
      pieces = Math.max(2, Math.min(smaller.pieces, kept.length));
    } else if (pieces < kept.length) pieces = Math.min(kept.length, pieces * 2);
    else break;
  }
  return kept;
}

/** One piece alone, or all but one; null: every piece is needed. */
function reduced<T>(
  kept: readonly T[],
  pieces: number,
  fails: (kept: readonly T[]) => boolean,
): { readonly kept: readonly T[]; readonly pieces: number } | null {
  const bound = (i: number): number => Math.floor((i * kept.length) / pieces);
  for (let i = 0; i < pieces; i++) {
    const piece = kept.slice(bound(i), bound(i + 1));
    if (piece.length < kept.length && fails(piece)) return { kept: piece, pieces: 2 };
  }
  if (pieces === 2) return null; // the rest of one half is the other half
  for (let i = 0; i < pieces; i++) {
    const rest = [...kept.slice(0, bound(i)), ...kept.slice(bound(i + 1))];
    if (fails(rest)) return { kept: rest, pieces: pieces - 1 };
  }
  return null;
}
