// `nodecli sim diverge A B`: the first record in which two traces differ.

import { EXIT, type Exit } from '../usage.ts';
import { differenceLines, firstDifference } from './diverge.ts';
import { TraceFile } from './trace-file.ts';

export function divergeCommand(a: string, b: string): Exit {
  const one = new TraceFile(a);
  const other = new TraceFile(b);
  if (one.header.commit !== other.header.commit) {
    console.error(
      `nodecli: warning: recorded by other commits: ${one.header.commit}, ${other.header.commit}`,
    );
  }
  const found = firstDifference(one, other);
  if (!found) {
    console.log('the same records, all of them');
    return EXIT.holds;
  }
  for (const line of differenceLines(found)) console.log(line);
  return EXIT.violated;
}
