// The agenda: order, cancelling, lives, against a naive model.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Agenda, type Handle } from '../../sim/agenda.ts';
import { Choices } from '../../sim/choices.ts';

describe('agenda', () => {
  test('time passes from event to event, ties in the order scheduled', () => {
    const agenda = new Agenda();
    const seen: string[] = [];
    const note = (what: string) => () => seen.push(`${agenda.now} ${what}`);
    agenda.at(30, note('c'));
    agenda.at(10, note('a'));
    agenda.at(10, note('b'));
    agenda.at(10, () => agenda.at(10, note('scheduled in the instant')));
    expect(agenda.nextAt()).toBe(10);
    while (agenda.next());
    expect(seen).toEqual(['10 a', '10 b', '10 scheduled in the instant', '30 c']);
    expect(agenda.nextAt()).toBe(Infinity);
    expect(agenda.happened).toBe(5);
  });
  test('runUntil stops at its time, which it then is', () => {
    const agenda = new Agenda();
    const seen: number[] = [];
    for (const time of [5, 10, 15]) agenda.at(time, (arg) => seen.push(arg), time * 2);
    agenda.runUntil(12);
    expect(seen).toEqual([10, 20]);
    expect(agenda.now).toBe(12);
    expect(agenda.pending).toBe(1);
  });
  test('the past cannot be changed, nor can there be events at no time', () => {
    const agenda = new Agenda();
    agenda.runUntil(10);
    for (const time of [9, Number.NaN, Infinity]) expect(() => agenda.at(time, () => {})).toThrow();
  });
  test('a handle cancels its own event once, even when its slot serves another', () => {
    const agenda = new Agenda();
    const seen: string[] = [];
    const old = agenda.at(1, () => seen.push('old'));
    agenda.next();
    const young = agenda.at(2, () => seen.push('young'));
    expect(agenda.cancel(old)).toBe(false);
    const gone = agenda.at(3, () => seen.push('gone'));
    expect(agenda.cancel(gone)).toBe(true);
    expect(agenda.cancel(gone)).toBe(false);
    while (agenda.next());
    expect(agenda.cancel(young)).toBe(false);
    expect(seen).toEqual(['old', 'young']);
  });
  test('an ended life has no more events, others go on', () => {
    const agenda = new Agenda();
    const seen: string[] = [];
    const [mine, yours] = [agenda.beginLife(), agenda.beginLife()];
    agenda.at(1, () => seen.push('mine'), 0, mine);
    agenda.at(2, () => agenda.endLife(mine));
    agenda.at(3, () => seen.push('never'), 0, mine);
    agenda.at(4, () => seen.push('yours'), 0, yours);
    while (agenda.next());
    expect(seen).toEqual(['mine', 'yours']);
    expect([agenda.isOver(mine), agenda.isOver(yours)]).toEqual([true, false]);
    for (let i = 0; i < 1000; i++) expect(agenda.isOver(agenda.beginLife())).toBe(false);
  });
  test('with drawn ties the events of an instant come in any order, the same for the same seed', () => {
    const order = (seed: number) => {
      const agenda = new Agenda(new Choices({ seed }).stream('ties'));
      const seen: number[] = [];
      for (let i = 0; i < 5; i++) agenda.at(7, (arg) => seen.push(arg), i);
      agenda.at(6, () => {});
      while (agenda.next());
      return seen.join();
    };
    const orders = Array.from({ length: 60 }, (_, seed) => order(seed));
    expect(new Set(orders).size).toBeGreaterThan(30);
    expect(orders).toEqual(Array.from({ length: 60 }, (_, seed) => order(seed)));
  });
  test('an event that throws is gone, and the agenda goes on', () => {
    const agenda = new Agenda();
    agenda.at(1, () => {
      throw new Error('bug');
    });
    agenda.at(2, () => {});
    expect(() => agenda.next()).toThrow('bug');
    expect(agenda.next()).toBe(true);
    expect(agenda.next()).toBe(false);
  });

  type Step = { do: 'at'; delay: number } | { do: 'cancel'; which: number } | { do: 'next' };
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('at' as const), delay: fc.nat(50) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(200) }) },
    { weight: 2, arbitrary: fc.constant({ do: 'next' as const }) },
  );
  test('any history happens as in a sorted list', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const agenda = new Agenda();
        let model: { time: number; id: number }[] = [];
        const handles: Handle[] = [];
        const seen: number[] = [];
        const expected: number[] = [];
        const next = () => {
          model.sort((a, b) => a.time - b.time || a.id - b.id);
          const due = model.shift();
          if (due) expected.push(due.id);
          expect(agenda.next()).toBe(due !== undefined);
          if (due) expect(agenda.now).toBe(due.time);
        };
        for (const now of steps) {
          if (now.do === 'at') {
            model.push({ time: agenda.now + now.delay, id: handles.length });
            handles.push(agenda.after(now.delay, (arg) => seen.push(arg), handles.length));
          } else if (now.do === 'cancel' && handles.length > 0) {
            const id = now.which % handles.length;
            const before = model.length;
            model = model.filter((event) => event.id !== id);
            expect(agenda.cancel(handles[id]!)).toBe(model.length < before);
          } else if (now.do === 'next') next();
          expect(agenda.pending).toBe(model.length);
        }
        while (model.length > 0) next();
        expect(agenda.next()).toBe(false);
        expect(seen).toEqual(expected);
      }),
    );
  });
  test('100,000 events of which most are cancelled: swept, and still in order', () => {
    const agenda = new Agenda();
    const stream = new Choices({ seed: 'sweep' }, 'forget').stream('x');
    const seen: number[] = [];
    const kept: number[] = [];
    for (let i = 0; i < 100_000; i++) {
      const time = stream.draw(1 << 20);
      const handle = agenda.at(time, (arg) => seen.push(arg), time);
      if (i % 10 === 0) kept.push(time);
      else agenda.cancel(handle);
    }
    expect(agenda.pending).toBe(kept.length);
    while (agenda.next());
    expect(seen).toEqual(kept.sort((a, b) => a - b));
  });
});

test('what an ended life was to do neither happens nor keeps time from passing', () => {
  const agenda = new Agenda();
  const seen: string[] = [];
  const life = agenda.beginLife();
  agenda.at(5, () => seen.push('of the dead'), 0, life);
  agenda.at(20, () => seen.push('later'));
  agenda.endLife(life);
  agenda.runUntil(10);
  expect([seen, agenda.now]).toEqual([[], 10]);
});
