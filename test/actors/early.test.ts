// What a peer says right behind its greeting, a moment before the validator is told that it is there.

import { expect, it } from 'vitest';
import { EARLY_PEERS_MAX } from '../../actors/validator/hear.ts';
import { CHANNEL_STATE } from '../../protocol/messages.ts';
import { genesisOf } from '../protocol/rules/people.ts';
import { Home, roundStepAt } from './home.ts';

it('the round step of a peer counts, though it came before the peer did; that of few strangers is kept, and small', () => {
  const home = new Home({ genesis: genesisOf([10n, 10n, 10n, 10n]), me: 0 });
  const height = (peer: string) => home.state.views.get(peer)?.height;
  home.hear('early', roundStepAt(1n));
  expect(height('early')).toBeUndefined();
  home.tell({ type: 'peer-up', peer: 'early' });
  expect(height('early')).toBe(1n);
  home.tell({ type: 'peer-down', peer: 'early' });
  home.tell({ type: 'peer-up', peer: 'early' });
  expect(height('early')).toBe(0n);

  // As many bytes in one payload as in many.
  const large = [{ channel: CHANNEL_STATE, bytes: new Uint8Array(1025) }];
  home.tell({ type: 'heard', peer: 'large', payloads: large });
  home.hear('long', ...Array.from({ length: 200 }, () => roundStepAt(1n)));
  expect([...home.state.early.keys()]).toEqual([]);
  for (let i = 0; i < 2 * EARLY_PEERS_MAX; i++) home.hear(`stranger${i}`, roundStepAt(1n));
  expect([...home.state.early.keys()]).toEqual(
    Array.from({ length: EARLY_PEERS_MAX }, (_, i) => `stranger${EARLY_PEERS_MAX + i}`),
  );
});
