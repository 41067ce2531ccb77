// Puts the liars of a play on stage: gives each what it works with, and lets the oracles hear what it really
// says.

import type { Block } from '../../protocol/types.ts';
import { hexFor } from '../addresses.ts';
import { liarNamed } from '../liars/index.ts';
import type { LiarKit } from '../liars/liar.ts';
import type { Machine } from '../machine.ts';
import type { GhostChain } from '../oracles/ghost/ghost.ts';
import { ownLiar } from './own.ts';
import type { LiarWords } from './play.ts';
import type { Stage } from './stage.ts';
import type { Witness } from './witness.ts';

/** Of the chain, for liars to speak of. */
const BLOCKS_KEPT = 8n;
/** In a million. */
const ALWAYS = 1_000_000;

/** Gives the way to ask which of them have told no lie so far. */
export function castLiars(
  liars: readonly LiarWords[],
  stage: Stage,
  witness: Witness,
  ghost: GhostChain,
): () => readonly LiarWords[] {
  const silent = new Set(liars);
  if (liars.length === 0) return () => [];
  const { world, rules } = stage;
  const decided = blocksKept(ghost);
  rules.lied = (from, to, payloads) => {
    const liar = world.machineOf(from);
    if (!liar) return;
    // What a liar says counts where votes are counted; its own node has not said it.
    witness.hearsLies = true;
    for (const oracle of world.whoWatches('send'))
      oracle.leaving?.(liar, 'validator', { type: 'send', to: [to], payloads });
    witness.hearsLies = false;
  };
  for (const [i, words] of liars.entries()) {
    const { liar } = words;
    const lies = (): void => void silent.delete(words);
    const others = liars.filter((each) => each.liar === liar && each.node !== words.node);
    const accomplices = others.map(({ node }) => world.machine(node));
    const kit = kitOf(words, { stage, witness, ghost, decided, accomplices, lies });
    const lie = (typeof liar === 'string' ? liarNamed(liar) : ownLiar(liar, i))(kit);
    rules.addLie(kit.machine.member.id, (to, payloads) => {
      const lied = lie(to, payloads);
      if (lied !== null) lies();
      return lied;
    });
  }
  return () => [...silent];
}

/** The newest of the chain, by height. */
function blocksKept(ghost: GhostChain): ReadonlyMap<bigint, Block> {
  const decided = new Map<bigint, Block>();
  ghost.onBlock.push((_at, block) => {
    const { height } = block.header;
    decided.set(height, block);
    decided.delete(height - BLOCKS_KEPT);
  });
  return decided;
}

interface Around {
  readonly stage: Stage;
  readonly witness: Witness;
  readonly ghost: GhostChain;
  readonly decided: ReadonlyMap<bigint, Block>;
  readonly accomplices: readonly Machine[];
  /** It has told a lie. */
  readonly lies: () => void;
}

function kitOf(words: LiarWords, { stage, witness, ghost, decided, accomplices, lies }: Around): LiarKit {
  const { world } = stage;
  const { node, liar } = words;
  const machine = world.machine(node);
  const stream = world.choices.stream(`liar/${node}/${typeof liar === 'string' ? liar : 'own'}`);
  let told = 0;
  return {
    machine,
    words,
    chainId: world.chainId,
    accomplices,
    victims: new Set(words.to.map((name) => world.machine(name).member.id)),
    lies: () => told < (words.times ?? Number.MAX_SAFE_INTEGER) && stream.chance(words.ppm ?? ALWAYS, ALWAYS),
    validators: (height) =>
      (ghost.set(height)?.members ?? []).map(({ addressBytes, power }) => ({ address: addressBytes, power })),
    hasTurn: (height, round) => ghost.set(height)?.atRound(round) === hexFor(machine),
    blockBytesMax: ghost.genesis.consensusParams.block.maxBytes,
    decided: (height) => decided.get(height) ?? null,
    proposed: (height, round) => witness.proposedAt(height, round),
    onStep: (listener) => {
      world.listeners.push((at, event) => at === machine && event.type === 'step' && listener());
    },
    submitted: (tx) => {
      for (const oracle of world.oracles) oracle.submitted?.(machine, tx);
    },
    count: (what) => {
      told++;
      lies();
      stage.count(what);
    },
  };
}
