// What is local to a simulated node: its mail, its keys.

import { describe, expect, test } from 'vitest';
import { Agenda } from '../../sim/agenda.ts';
import { Choices } from '../../sim/choices.ts';
import { HOP, SimMail } from '../../sim/mail.ts';
import { ed25519Key, SimCrypto, SimSign } from '../../sim/sim-crypto.ts';

const NO_HOP = { minNs: 0, maxNs: 0 };

describe('mail', () => {
  test('hops take their drawn time, lanes do not wait for each other', () => {
    const agenda = new Agenda();
    const mail = new SimMail(agenda, agenda.beginLife(), new Choices({ seed: 'm' }).stream('mail'));
    const times: number[] = [];
    for (let i = 0; i < 100; i++) mail.carry(`${i}`, 'x', () => times.push(agenda.now));
    while (agenda.next());
    expect(Math.min(...times)).toBeGreaterThanOrEqual(HOP.minNs);
    expect(Math.max(...times)).toBeLessThanOrEqual(HOP.maxNs);
    expect(new Set(times).size).toBeGreaterThan(90);
  });
  test('letters keep their order under drawn ties and a zero delay, and die with their node', () => {
    const choices = new Choices({ seed: 'm' });
    const agenda = new Agenda(choices.stream('ties'));
    const life = agenda.beginLife();
    const mail = new SimMail(agenda, life, choices.stream('mail'), undefined, NO_HOP);
    const order: number[] = [];
    for (let i = 0; i < 100; i++) mail.carry('a', 'b', () => order.push(i));
    for (let i = 0; i < 60; i++) agenda.next();
    agenda.endLife(life);
    while (agenda.next());
    expect(order).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });
  test('a slow application comes to one question after the other, and neither asker waits for the other', () => {
    const agenda = new Agenda();
    const pace = { answering: { blocksNs: 1_000_000, checksNs: 300_000 }, answersUntilNs: 0 };
    const mail = new SimMail(
      agenda,
      agenda.beginLife(),
      new Choices({ seed: 'm' }).stream('mail'),
      pace,
      NO_HOP,
    );
    const times: string[] = [];
    const say = (from: string, to: string) =>
      mail.carry(from, to, () => times.push(`${from} ${to} ${agenda.now}`));
    for (const from of ['validator', 'mempool', 'validator', 'mempool']) say(from, 'app');
    say('app', 'validator');
    while (agenda.next());
    expect(times).toEqual([
      'app validator 1',
      'mempool app 300000',
      'mempool app 600000',
      'validator app 1000000',
      'validator app 2000000',
    ]);
    expect(pace.answersUntilNs).toBe(2_000_000);
  });
});

describe('sim-crypto', () => {
  const secret = new Uint8Array(32).fill(5);
  const seed = new Uint8Array(32).fill(1);
  const message = Uint8Array.of(1, 2, 3);
  const real = ed25519Key(seed);
  const key = { type: 'ed25519', bytes: real.publicKey } as const;

  test('public keys are the real ones; signatures are not', () => {
    const simulated = new SimCrypto(secret).key(seed);
    expect(simulated.publicKey).toEqual(real.publicKey);
    expect(simulated.sign(message)).not.toEqual(real.sign(message));
  });
  test('with and without memory the verdicts are the same, for good and bad', () => {
    const remembering = new SimCrypto(secret);
    const forgetting = new SimCrypto(secret, 'forget');
    const signature = remembering.key(seed).sign(message);
    expect(forgetting.key(seed).sign(message)).toEqual(signature);
    for (const crypto of [remembering, forgetting, remembering]) {
      expect(crypto.verify(key, message, signature)).toBe(true);
      for (let at = 0; at < 64; at++) {
        const bad = signature.slice();
        bad[at]! ^= 1;
        expect(crypto.verify(key, message, bad)).toBe(false);
      }
      expect(crypto.verify(key, Uint8Array.of(1, 2, 4), signature)).toBe(false);
      expect(crypto.verify({ ...key, type: 'secp256k1' }, message, signature)).toBe(false);
      expect(crypto.verify(key, message, signature.subarray(1))).toBe(false);
      expect(crypto.verify({ ...key, bytes: key.bytes.subarray(1) }, message, signature)).toBe(false);
    }
  });
  test('another world has other signatures', () => {
    const other = new SimCrypto(new Uint8Array(32).fill(6));
    expect(other.verify(key, message, new SimCrypto(secret).key(seed).sign(message))).toBe(false);
  });
  test('a message buffer may be used again at once', () => {
    const crypto = new SimCrypto(secret);
    const buffer = message.slice();
    const signature = crypto.key(seed).sign(buffer);
    buffer.fill(0);
    expect(crypto.verify(key, message, signature)).toBe(true);
    expect(crypto.verify(key, buffer, signature)).toBe(false);
  });
  test('a signature comes after a drawn moment, and not to the dead', () => {
    const agenda = new Agenda();
    const life = agenda.beginLife();
    const sign = new SimSign(agenda, life, new Choices({ seed: 's' }).stream('sign'), real);
    const told: Uint8Array[] = [];
    sign.sign(message, (signature) => told.push(signature));
    while (agenda.next());
    expect(told).toEqual([real.sign(message)]);
    expect(agenda.now).toBeGreaterThanOrEqual(10_000);
    sign.sign(message, (signature) => told.push(signature));
    agenda.endLife(life);
    while (agenda.next());
    expect(told).toHaveLength(1);
  });
});
