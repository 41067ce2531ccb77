// Puts the liars of a play on stage: gives each what it works with, and lets the oracles hear what it really
// says.

import type { GhostChain } from '../oracles/ghost.ts';
import type { LiarWords } from '../scenario/play.ts';
import type { Stage } from '../scenario/stage.ts';
import type { Witness } from '../scenario/witness.ts';
import { liarNamed } from './index.ts';

export function castLiars(
  liars: readonly LiarWords[],
  stage: Stage,
  witness: Witness,
  ghost: GhostChain,
): void {
  if (liars.length === 0) return;
  const { world, rules } = stage;
  rules.lied = (from, to, payloads) => {
    const liar = world.machineOf(from);
    if (!liar) return;
    // What a liar says counts where votes are counted; its own node has not said it.
    for (const oracle of world.oracles)
      oracle.leaving?.(liar, 'validator', { type: 'send', to: [to], payloads });
  };
  for (const words of liars) {
    const machine = world.machine(words.node);
    let told = 0;
    const { node, liar } = words;
    const stream = world.choices.stream(`liar/${node}/${typeof liar === 'string' ? liar : 'own'}`);
    const lie = (typeof liar === 'string' ? liarNamed(liar) : liar)({
      machine,
      words,
      chainId: world.chainId,
      victims: new Set(words.to.map((name) => world.machine(name).member.id)),
      lies: () =>
        told < (words.times ?? Number.MAX_SAFE_INTEGER) && stream.chance(words.ppm ?? 1_000_000, 1_000_000),
      validators: (height) =>
        (ghost.set(height)?.members ?? []).map(({ addressBytes, power }) => ({
          address: addressBytes,
          power,
        })),
      blockBytesMax: ghost.genesis.consensusParams.block.maxBytes,
      proposed: (height, round) => witness.proposedAt(height, round),
      submitted: (tx) => {
        for (const oracle of world.oracles) oracle.submitted?.(machine, tx);
      },
      count: (what) => {
        told++;
        stage.count(what);
      },
    });
    rules.addLie(machine.member.id, lie);
  }
}
