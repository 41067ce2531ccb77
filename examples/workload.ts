// A workload of one's own: what the counter takes. The n-th transaction of a run; what it draws comes from the run's
// seed. No two are the same: a chain has each transaction once.
import { type Load, txs, type Workload } from 'rehearsal/sim';

const addition: Workload = (stream, n) => new TextEncoder().encode(`+${stream.between(1, 9)} nr ${n}`);

export const additions: Load = txs({ perBlock: 2, make: addition });
