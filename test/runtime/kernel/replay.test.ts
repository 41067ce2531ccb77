import { describe, expect, it } from 'vitest';
import { hexOf } from '../../../protocol/bytes.ts';
import { DIGEST_BYTES, type TraceRecord } from '../../../runtime/kernel/trace.ts';
import { bytesOf, read, record, replay } from './recorded.ts';

const recorded = record([10n, 10n, 10n, 10n], 3n, { crash: true });
const { records } = read(bytesOf(recorded));

it('a simulated network of four, with a crash, replays turn by turn without its world', () => {
  expect(new Set(records.map(({ kind }) => kind))).toEqual(new Set(['boot', 'turn', 'spawn', 'stop']));
  const boots = records
    .filter((each) => each.kind === 'boot' && each.actor === 'app')
    .map(({ node }) => node);
  expect(boots.filter((node) => node === 0).length).toBe(2); // two lives of the first
  const { divergence, player } = replay(recorded.header, records);
  expect(divergence).toBeNull();
  expect(player.records).toBe(records.length);
  for (const [i, machine] of recorded.world.machines.entries()) {
    const validator = player.peek(i, 'validator') as {
      chain: { lastBlockHeight: bigint; appHash: Uint8Array };
    };
    expect(validator.chain.lastBlockHeight).toBe(machine.height);
  }
});

it('remembering results changes nothing', () => {
  const forgetful = record([10n, 10n, 10n, 10n], 3n, { crash: true, memo: false });
  expect(hexOf(bytesOf(forgetful))).toBe(hexOf(bytesOf(recorded)));
});

describe('a replay names the first turn that differs', () => {
  const middle = records.findIndex(
    (each, i) => i > records.length / 2 && each.kind === 'turn' && each.actor === 'validator',
  );
  const changed = (change: (record: TraceRecord) => TraceRecord): readonly TraceRecord[] =>
    records.map((each, i) => (i === middle ? change(each) : each));
  const divergence = (list: readonly TraceRecord[]) => replay(recorded.header, list).divergence;

  it('when it did something else', () => {
    for (let i = 0; i < DIGEST_BYTES; i++) {
      const digest = records[middle]!.digest.slice();
      digest[i]! ^= 1;
      expect(divergence(changed((each) => ({ ...each, digest })))).toMatchObject({
        record: middle + 1,
        actor: 'validator',
        why: 'it did something else than what was recorded',
      });
    }
  });

  it('when an earlier turn is missing', () => {
    const found = divergence(records.filter((_, i) => i !== middle));
    const { node } = records[middle]!;
    const next = records.findIndex((each, i) => i > middle && each.node === node);
    expect(found).toMatchObject({ record: next, node });
  });

  it('when the message is another', () => {
    const found = divergence(
      changed((each) =>
        each.kind === 'turn' ? { ...each, message: Uint8Array.of(250), input: each.input } : each,
      ),
    );
    expect(found).toMatchObject({
      record: middle + 1,
      why: 'the message does not decode in the words of its actor',
    });
  });

  it('when the actor is not there, the node is not in the header, or the actor throws', () => {
    expect(divergence(changed((each) => ({ ...each, actor: 'nobody' })))?.why).toBe(
      'this actor does not live here',
    );
    expect(divergence(changed((each) => ({ ...each, node: 9 })))?.why).toBe('the header names no node 9');
    const draws = records.findIndex((each) => each.kind === 'turn' && each.draws.length > 0);
    const without = records.map((each, i) =>
      i === draws && each.kind === 'turn' ? { ...each, draws: [] } : each,
    );
    expect(divergence(without)).toMatchObject({
      record: draws + 1,
      why: 'the actor threw: drew more often than recorded',
    });
  });
});
