// What every keeper of the Mail port promises: each letter once, not inside the call, in order between two
// actors.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Mail } from '../../runtime/kernel/ports.ts';

export interface MailWorld {
  readonly mail: Mail;
  /** Until every letter, and every letter that one of them wrote, is delivered. */
  settle(): Promise<void>;
}

export function mailCompliance(name: string, open: () => MailWorld | Promise<MailWorld>): void {
  describe(`mail: ${name}`, () => {
    let world: MailWorld;
    beforeEach(async () => {
      world = await open();
    });

    test('a letter is delivered once, and not inside the call', async () => {
      let delivered = 0;
      world.mail.carry('validator', 'mempool', () => delivered++);
      expect(delivered).toBe(0);
      await world.settle();
      await world.settle();
      expect(delivered).toBe(1);
    });
    test('first in, first out between two actors', async () => {
      const order: number[] = [];
      for (let i = 0; i < 5000; i++) world.mail.carry('validator', 'mempool', () => order.push(i));
      await world.settle();
      expect(order).toEqual(Array.from({ length: 5000 }, (_, i) => i));
    });
    test('first in, first out for each pair, whatever the others do', async () => {
      const heard = new Map<string, number[]>();
      const names = ['validator', 'mempool', 'app'];
      for (let i = 0; i < 300; i++) {
        for (const from of names) {
          for (const to of names) {
            const pair = `${from} to ${to}`;
            if (!heard.has(pair)) heard.set(pair, []);
            world.mail.carry(from, to, () => heard.get(pair)!.push(i));
          }
        }
      }
      await world.settle();
      for (const order of heard.values()) expect(order).toEqual(Array.from({ length: 300 }, (_, i) => i));
    });
    test('a letter written by a delivery comes after it, and after the letters before it', async () => {
      const order: string[] = [];
      world.mail.carry('a', 'b', () => {
        order.push('first');
        world.mail.carry('a', 'b', () => order.push('third'));
        order.push('still first');
      });
      world.mail.carry('a', 'b', () => order.push('second'));
      await world.settle();
      expect(order).toEqual(['first', 'still first', 'second', 'third']);
    });
    test('a long chain of letters ends', async () => {
      let count = 0;
      const next = () => {
        if (++count < 20_000) world.mail.carry('a', count % 2 ? 'b' : 'c', next);
      };
      world.mail.carry('a', 'b', next);
      await world.settle();
      expect(count).toBe(20_000);
    });
  });
}
