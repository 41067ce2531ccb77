// An oracle of one's own: the counter's sum, which is its app hash, never gets smaller from one height to the next.
// An oracle is made anew for each run, hears what nodes publish, and reports what must not be.
import type { OracleMaker } from 'rehearsal/sim';

export const neverShrinks: OracleMaker = (report, about) => {
  const sums = new Map<bigint, number>();
  return {
    name: 'never shrinks',
    effects: [], // it looks at no message that leaves a node
    published(at, _actor, event) {
      if (event.type !== 'committed' || !about.isHonest(at)) return;
      const sum = Number(new TextDecoder().decode(event.appHash).slice('sum '.length));
      const before = sums.get(event.height - 1n) ?? 0;
      if (sum < before) report(`the sum went from ${before} to ${sum}`, at, event.height);
      sums.set(event.height, sum);
    },
  };
};
