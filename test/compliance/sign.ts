// What every keeper of the Sign port promises: signatures of the bytes asked for, that verify, told later.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Sign } from '../../runtime/kernel/ports.ts';
import { bytesOf } from './bytes.ts';

export interface SignWorld {
  readonly sign: Sign;
  /** Until every signature asked for so far is answered. */
  settle(): Promise<void>;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

export function signCompliance(name: string, open: (who: number) => SignWorld | Promise<SignWorld>): void {
  describe(`sign: ${name}`, () => {
    let world: SignWorld;
    beforeEach(async () => {
      world = await open(0);
    });
    const signed = async (message: Uint8Array, by = world): Promise<Uint8Array> => {
      let answer: Uint8Array | undefined;
      by.sign.sign(message, (signature) => {
        answer = signature;
      });
      expect(answer, 'answered inside the call').toBeUndefined();
      await by.settle();
      return answer!;
    };

    test('the public key has 32 bytes and stays the same', () => {
      expect(world.sign.publicKey).toHaveLength(32);
      expect(world.sign.publicKey).toEqual(world.sign.publicKey);
    });
    test('a signature has 64 bytes, verifies, and is told after the call', async () => {
      const message = bytesOf('a vote');
      const signature = await signed(message);
      expect(signature).toHaveLength(64);
      expect(world.verify(world.sign.publicKey, message, signature)).toBe(true);
    });
    test('it does not verify for other bytes, when changed, or for another key', async () => {
      const other = await open(1);
      expect(other.sign.publicKey).not.toEqual(world.sign.publicKey);
      const signature = await signed(bytesOf('a vote'));
      expect(world.verify(world.sign.publicKey, bytesOf('another vote'), signature)).toBe(false);
      expect(world.verify(other.sign.publicKey, bytesOf('a vote'), signature)).toBe(false);
      const changed = signature.slice();
      changed[10]! ^= 1;
      expect(world.verify(world.sign.publicKey, bytesOf('a vote'), changed)).toBe(false);
    });
    test('an empty message can be signed', async () => {
      const signature = await signed(new Uint8Array(0));
      expect(world.verify(world.sign.publicKey, new Uint8Array(0), signature)).toBe(true);
    });
    test('the same bytes have the same signature', async () => {
      expect(await signed(bytesOf('twice'))).toEqual(await signed(bytesOf('twice')));
    });
    test('many at once: each is answered once, with its own signature, in order', async () => {
      const order: number[] = [];
      for (let i = 0; i < 50; i++) {
        world.sign.sign(bytesOf(`vote ${i}`), (signature) => {
          order.push(i);
          expect(world.verify(world.sign.publicKey, bytesOf(`vote ${i}`), signature)).toBe(true);
        });
      }
      await world.settle();
      expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i));
    });
  });
}
