// A run as a stream, for those who read: story lines, events of nodes, progress, and at the end the verdict.

import { Observable } from 'rxjs';
import type { NodeEvent } from '../actors/turn.ts';
import { runScenario } from './run.ts';
import type { RunOptions } from './run-options.ts';
import type { Play } from './scenario/play.ts';
import type { RunWatch, StoryLine, Verdict } from './verdict.ts';

export type RunEvent =
  | ({ readonly type: 'line' } & StoryLine)
  | { readonly type: 'event'; readonly node: string; readonly event: NodeEvent }
  | { readonly type: 'progress'; readonly done: number; readonly height: bigint }
  | { readonly type: 'verdict'; readonly verdict: Verdict };

/** Those that no event of the stream is made of: its choices, its trace, what is behind it. */
type OtherWatch = Omit<RunWatch, 'line' | 'event' | 'progress'>;

/** Cold: each subscription performs the play once, at once, and completes with its verdict. */
export function observeRun(
  play: Play,
  options: Omit<RunOptions, 'watch'> & { readonly watch?: OtherWatch },
): Observable<RunEvent> {
  return new Observable((reader) => {
    const verdict = runScenario(play, {
      ...options,
      watch: {
        ...options.watch,
        line: (line) => reader.next({ type: 'line', ...line }),
        event: (at, event) => reader.next({ type: 'event', node: at.name, event }),
        progress: (done, height) => reader.next({ type: 'progress', done, height }),
      },
    });
    reader.next({ type: 'verdict', verdict });
    reader.complete();
  });
}
