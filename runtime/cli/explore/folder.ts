// The folder of a campaign: its state, with which another sitting goes on, and a scenario of each failure.

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSeed } from '../../../sim/choices.ts';
import {
  type Check,
  Checker,
  isText,
  listOf,
  maybe,
  number,
  object,
  whole,
} from '../../../sim/scenario/checks.ts';
import { toJson } from '../../../sim/scenario/json.ts';
import type { Scenario } from '../../../sim/scenario/play.ts';
import { scenarioUnder } from '../../../sim/scenario/under.ts';
import { SetupError, TakenError, writeFileAtomic } from '../../host/disk/files.ts';
import { lockFolder } from '../../host/disk/lock.ts';
import { playAtOnce } from '../run/play-file.ts';
import { CliError, endsAll, whyNot } from '../usage.ts';
import { type Campaign, PROCESS } from './campaign.ts';

const STATE = 'campaign.json';

/** The campaign that the folder holds, else this new one, which it holds from now on. */
export async function openCampaign(folder: string, fresh: Campaign, isSeedGiven: boolean): Promise<Campaign> {
  await lock(folder);
  const path = join(folder, STATE);
  const campaign = existsSync(path) ? knownCampaign(path) : fresh;
  if (campaign.play !== fresh.play)
    throw new CliError(`--out: ${path} is a campaign of the play ${campaign.play}; give another folder`);
  if (campaign.fileDigest !== fresh.fileDigest)
    throw new CliError(
      `--out: ${fresh.play} has changed since the campaign of ${path} began; give another folder`,
    );
  if (campaign.commit !== fresh.commit)
    throw new CliError(`--out: ${path} is a campaign of commit ${campaign.commit}; give another folder`);
  if (isSeedGiven && campaign.base !== fresh.base)
    throw new CliError(
      `--seed: the campaign in ${folder} began at ${campaign.base}; leave --seed out to go on`,
    );
  saveCampaign(folder, campaign); // a folder that cannot be written is told before the first run, not after it
  return campaign;
}

/** Two commands that go on with one campaign would write over each other. */
async function lock(folder: string): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true });
    process.once('exit', await lockFolder(folder, endsAll, { onWatch: (line) => console.error(line) }));
  } catch (error) {
    if (error instanceof TakenError)
      throw new CliError(
        `--out: another sim explore is at work in ${folder}, or was a moment ago (its LOCK says which)`,
      );
    throw new CliError(`--out: cannot write in ${folder}: ${whyNot(error)}`);
  }
}

function knownCampaign(path: string): Campaign {
  const not = (because: string): never => {
    throw new CliError(`--out: ${path} is no campaign (${because}); give another folder`);
  };
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return not(whyNot(error));
  }
  const checker = new Checker('the file');
  checker.check(CAMPAIGN, value, '');
  return checker.problem === null ? (value as Campaign) : not(checker.problem);
}

const fraction: Check = {
  expects: 'a number from 0',
  holds: (value) => typeof value === 'number' && value >= 0,
};
const seed: Check = {
  expects: 'a seed as text',
  holds: (value) => typeof value === 'string' && isSeed(value),
};
const counts: Check = {
  expects: 'how often each was seen, by name',
  holds: (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((times) => Number.isSafeInteger(times) && times > 0),
};
const CAMPAIGN = object({
  play: isText,
  fileDigest: maybe(isText),
  commit: isText,
  base: seed,
  runs: whole,
  heights: whole,
  laterThanFirst: whole,
  deliveries: whole,
  virtualMs: whole,
  seconds: fraction,
  reached: object({ round2: whole, restarted: whole, setChanged: whole, lied: whole }),
  ratio: object({ max: fraction, seed: isText }),
  faults: counts,
  labels: counts,
  failures: listOf(
    object({ signature: isText, oracle: isText, what: isText, times: number, seed, deliveries: whole }),
  ),
  mismatches: listOf(seed),
});

export const saveCampaign = (folder: string, campaign: Campaign): void =>
  writeWhole(folder, STATE, JSON.stringify(campaign, null, 2));

/** Each failure but those that took their process with them as a play: `sim run FILE` shows it, `sim shrink FILE` makes it small. */
export function saveFailures(folder: string, { failures, commit, play }: Campaign): void {
  for (const [i, { oracle, what, seed: failing }] of failures.entries()) {
    const scenario = oracle === PROCESS ? null : written(play, failing);
    if (!scenario) continue;
    const json = toJson({ ...scenario, origin: { oracle, what, seed: failing, commit } });
    if (typeof json === 'string') writeWhole(folder, `failure-${i + 1}.json`, json);
  }
}

/** What a seed wrote; null: it breaks in the writing, and the seed alone shows it. */
function written(play: string, failing: string): Scenario | null {
  try {
    return scenarioUnder(playAtOnce(play), failing);
  } catch {
    return null;
  }
}

function writeWhole(folder: string, name: string, text: string): void {
  try {
    writeFileAtomic(join(folder, name), text);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    throw new CliError(`--out: cannot write in ${folder}: ${whyNot(error.cause)}`);
  }
}
