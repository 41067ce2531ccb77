// The false accuser: evidence that proves nothing, in blocks of its own and beside its prevotes; and now and then a true double vote of its own,
// and that again and again.

import { Accuser, BESIDE_VOTES, IN_BLOCKS } from './accusations.ts';
import { accusing } from './accusing.ts';
import type { Liar } from './liar.ts';

export const falseAccuser: Liar = (kit) => {
  const inBlock = new Accuser(kit, IN_BLOCKS);
  const beside = new Accuser(kit, BESIDE_VOTES);
  return accusing(
    kit,
    (height) => inBlock.about(height),
    (height) => beside.about(height),
  );
};
