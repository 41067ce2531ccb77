// A workload: the n-th transaction of a run. What it draws comes from the run's seed. No two are the same, as
// a chain has each transaction once.
import { type Load, txs, type Workload } from 'rehearsal/sim';

const order: Workload = (stream, n) => new TextEncoder().encode(`order ${n}: ${stream.between(1, 9)} apples`);

export const orders: Load = txs({ perBlock: 2, make: order });
