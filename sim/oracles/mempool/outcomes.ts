// How the transactions of the latest blocks ended, as applications themselves say: any honest one, for all say the same.

import { idOf } from './pool.ts';

/** More than a restarted node reminds its pool of. */
const BLOCKS_REMEMBERED = 80n;

export class Outcomes {
  private readonly byHeight = new Map<bigint, ReadonlyMap<string, number>>();

  ended(height: bigint, txs: readonly Uint8Array[], codes: readonly number[]): void {
    if (txs.length === 0 || txs.length !== codes.length || this.byHeight.has(height)) return;
    this.byHeight.set(height, new Map(txs.map((tx, i) => [idOf(tx), codes[i] as number])));
    for (const old of this.byHeight.keys()) if (old + BLOCKS_REMEMBERED < height) this.byHeight.delete(old);
  }

  /** Null: it is in no block that anybody executed of late, up to this height. In more than one: as in the last. */
  of(id: string, upTo: bigint): number | null {
    let last: { readonly height: bigint; readonly code: number } | undefined;
    for (const [height, codes] of this.byHeight) {
      const code = codes.get(id);
      if (code !== undefined && height <= upTo && (!last || last.height < height)) last = { height, code };
    }
    return last?.code ?? null;
  }
}
