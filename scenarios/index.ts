// All plays, by the names that `sim list` shows.

import type { Play } from '../sim/scenario/play.ts';
import { calm } from './calm.ts';

export const plays: readonly Play[] = [calm];
