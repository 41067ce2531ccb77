// How many heights a cluster decided in this run, and how fast.

import type { Observable } from 'rxjs';
import { counted } from '../telling.ts';
import type { ClusterEvent } from './cluster.ts';

type Told = ClusterEvent | { readonly type: 'up' | 'committed'; readonly height: bigint };

/** From the first report of this run to the last new height. A height that some node had when it began is none: others only catch up on it. */
export class Pace {
  heights = 0;
  private top = 0n;
  private firstMs = 0;
  private lastMs = 0;

  constructor(events: Observable<Told>) {
    events.subscribe((event) => {
      if (event.type === 'up') this.onUp(event.height);
      else if (event.type === 'committed') this.onCommitted(event.height);
    });
  }

  private onUp(height: bigint): void {
    if (height <= this.top) return;
    this.top = height;
    this.heights = 0;
  }

  private onCommitted(height: bigint): void {
    if (height <= this.top) return;
    this.top = height;
    this.lastMs = performance.now();
    if (this.heights++ === 0) this.firstMs = this.lastMs;
  }

  get text(): string {
    const seconds = (this.lastMs - this.firstMs) / 1_000;
    const rate = this.heights > 1 ? `, ${((this.heights - 1) / seconds).toFixed(2)} a second` : '';
    return `${counted(this.heights, 'height')} in this run${rate}`;
  }
}
