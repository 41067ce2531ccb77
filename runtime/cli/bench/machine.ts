// A yardstick of the machine: figures of two machines can be compared by what both make of the same work, which is none of ours.

import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { medianOf } from '../telling.ts';

export interface Yardstick {
  /** Of signatures of 120 bytes, by Node's own crypto. */
  readonly ed25519VerificationsPerSecond: number;
  /** Of 160 bytes each, by Node's own crypto. */
  readonly sha256PerSecond: number;
}

const ROUNDS = 5;

export function measureMachine(): Yardstick {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const message = new Uint8Array(120).fill(7);
  const signature = sign(null, message, privateKey);
  const block = new Uint8Array(160).fill(7);
  return {
    ed25519VerificationsPerSecond: rate(500, () => verify(null, message, publicKey, signature)),
    sha256PerSecond: rate(20_000, () => createHash('sha256').update(block).digest()),
  };
}

function rate(times: number, work: () => unknown): number {
  const rates = Array.from({ length: ROUNDS }, () => {
    const startedMs = performance.now();
    for (let i = 0; i < times; i++) work();
    return times / ((performance.now() - startedMs) / 1000);
  });
  return Math.round(medianOf(rates.sort((a, b) => a - b)));
}

export const machineLine = ({ ed25519VerificationsPerSecond, sha256PerSecond }: Yardstick): string =>
  `this machine verifies ${ed25519VerificationsPerSecond} signatures (ed25519) and hashes ${sha256PerSecond} times 160 bytes a second`;
