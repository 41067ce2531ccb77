// The false accuser: evidence that proves nothing, in blocks of its own and beside its prevotes; and now and then a true double vote of its own,
// and that again and again.

import { Accuser, CHANGED } from './accusations.ts';
import { accusing } from './accusing.ts';
import type { Liar } from './liar.ts';

export const falseAccuser: Liar = (kit) => {
  const inBlock = new Accuser(kit);
  const beside = new Accuser(kit, CHANGED);
  return accusing(
    kit,
    (height) => inBlock.about(height),
    (height) => beside.about(height),
  );
};
