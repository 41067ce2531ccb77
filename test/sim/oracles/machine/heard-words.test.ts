// What a life logs as heard: no more than it has heard, nothing twice, and not what hangs behind a word.

import { describe, expect, it } from 'vitest';
import { encodeRecord } from '../../../../actors/validator/logbook.ts';
import { CHANNEL_DATA, CHANNEL_STATE, CHANNEL_VOTE } from '../../../../protocol/messages.ts';
import { HeardWords } from '../../../../sim/oracles/machine/heard-words.ts';

const word = (channel: number, length: number, fill = 1) => ({
  channel,
  bytes: new Uint8Array(length).fill(fill),
});
const logged = (channel: number, length: number, fill = 1): Uint8Array =>
  encodeRecord({ type: 'heard', peer: 'p', ...word(channel, length, fill) });

/** One that has been told enough. */
function told(): HeardWords {
  const heard = new HeardWords();
  heard.hears(Array(9).fill(word(CHANNEL_DATA, 1)));
  return heard;
}

describe('what a life logs as heard', () => {
  it('was said to it', () => {
    const heard = new HeardWords();
    heard.hears([word(CHANNEL_VOTE, 100), word(CHANNEL_STATE, 30), word(CHANNEL_DATA, 100)]);
    expect(heard.logs(logged(CHANNEL_VOTE, 100), 0n, 0)).toBeNull();
    expect(heard.logs(logged(CHANNEL_DATA, 100), 0n, 0)).toBeNull();
    expect(heard.logs(encodeRecord({ type: 'end-height', height: 1n }), 0n, 0)).toBeNull();
    expect(heard.logs(logged(CHANNEL_VOTE, 100), 0n, 0)).toContain('more words');
    expect(heard.logs(logged(CHANNEL_VOTE, 100), 0n, 0)).toBeNull(); // which is said once
  });

  it('is a part of a block once', () => {
    const heard = told();
    expect(heard.logs(logged(CHANNEL_DATA, 65_600), 4n, 0)).toBeNull();
    expect(heard.logs(logged(CHANNEL_DATA, 65_600, 2), 4n, 0)).toBeNull();
    expect(heard.logs(logged(CHANNEL_DATA, 65_601), 4n, 0)).toBeNull();
    expect(heard.logs(logged(CHANNEL_DATA, 65_600), 4n, 0)).toBe('a part of a block that it has logged');
    expect(heard.logs(logged(CHANNEL_DATA, 65_600), 5n, 0)).toBeNull();
  });

  it('is a part of a block again in another round, as which begins the block may have been let go', () => {
    const heard = told();
    const part = logged(CHANNEL_DATA, 65_600);
    expect(heard.logs(part, 4n, 3)).toBeNull();
    expect(heard.logs(part, 4n, 3)).toContain('it has logged');
    expect(heard.logs(part, 4n, 4)).toBeNull();
    expect(heard.logs(part, 4n, 4)).toContain('it has logged');
  });

  it.each([
    [CHANNEL_VOTE, 5_000, null],
    [CHANNEL_VOTE, 6_000, 'bytes for a vote'],
    [CHANNEL_DATA, 140_000, null],
    [CHANNEL_DATA, 150_000, 'bytes for a proposal or a part of a block'],
  ])('on channel %i may have %i bytes, or may not', (channel, length, says) => {
    const what = told().logs(logged(channel, length), 0n, 0);
    if (says === null) expect(what).toBeNull();
    else expect(what).toContain(says);
  });
});
