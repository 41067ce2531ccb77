// An oracle: the count, which is the app hash, never gets smaller from one height to the next. It is made
// anew for each run, hears what nodes publish, and reports what must not be.
import type { OracleMaker } from 'rehearsal/sim';

export const neverShrinks: OracleMaker = (report, about) => {
  const counts = new Map<bigint, number>();
  return {
    name: 'never shrinks',
    effects: [], // it looks at no message that leaves a node
    published(at, _actor, event) {
      if (event.type !== 'committed' || !about.isHonest(at)) return;
      const count = Number(new TextDecoder().decode(event.appHash).slice('count '.length));
      const before = counts.get(event.height - 1n) ?? 0;
      // Asked so that what is no count is reported, too: of another application it would say nothing, for ever.
      if (!(count >= before)) report(`the count went from ${before} to ${count}`, at, event.height);
      counts.set(event.height, count);
    },
  };
};
