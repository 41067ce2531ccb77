// A run and its picture in one call, for programs.

import { runScenario } from '../run.ts';
import { mustBeOptions, type RunOptions } from '../run-options.ts';
import type { Play } from '../scenario/play.ts';
import type { Backstage, Verdict } from '../verdict.ts';
import { PictureCollector, type PictureLimits } from './collector.ts';
import type { Picture } from './picture.ts';

/** Performs the play as `runScenario` does, to the same digest, and says what it looked like. */
export function pictureOf(
  play: Play,
  options: RunOptions,
  limits?: PictureLimits,
): { readonly verdict: Verdict; readonly picture: Picture } {
  mustBeOptions(options);
  const collector = new PictureCollector(limits);
  const backstage = (behind: Backstage): void => {
    options.watch?.backstage?.(behind);
    collector.open(behind);
  };
  const verdict = runScenario(play, { ...options, watch: { ...options.watch, backstage } });
  return { verdict, picture: collector.picture(verdict) };
}
