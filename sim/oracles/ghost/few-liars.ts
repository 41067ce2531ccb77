// Whether liars have a third of the power at most: what honest validators owe each other holds no further.

import { hexFor } from '../../addresses.ts';
import type { WorldAbout } from '../../oracle.ts';
import type { GhostSet } from './ghost.ts';

export function areFewLiars(set: GhostSet, about: WorldAbout): boolean {
  let lying = 0n;
  for (const each of about.machines) if (!about.isHonest(each)) lying += set.powerOf(hexFor(each));
  return lying * 3n <= set.total;
}
