// Many rows of numbers as one list per column: of all that is added, the newest are kept.

export type Row<Name extends string> = Readonly<Record<Name, number>>;

export interface Columns<Name extends string> {
  /** How many rows were let go, the oldest first. */
  readonly dropped: number;
  /** The number of the new row: it stays the same when others are let go. */
  add(row: Row<Name>): number;
  /** Nothing happens when that row is gone. */
  set(number: number, name: Name, value: number): void;
  /** The newest rows, at most as many as are kept. */
  read(): Record<Name, number[]>;
}

/** `passed` is told of each row that is let go. */
export function columns<Name extends string>(
  names: readonly Name[],
  most: number,
  passed?: (row: Row<Name>) => void,
): Columns<Name> {
  const lists = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  const size = (): number => (lists[names[0] as Name] as number[]).length;
  let dropped = 0;
  const trim = (): void => {
    const over = size() - most;
    if (over <= 0) return;
    for (let i = 0; passed && i < over; i++) {
      passed(Object.fromEntries(names.map((name) => [name, lists[name][i] as number])) as Row<Name>);
    }
    for (const name of names) lists[name].splice(0, over);
    dropped += over;
  };
  return {
    get dropped() {
      return dropped;
    },
    add(row) {
      // Twice as many may stand here: moving the rest down at each addition would cost more than the run.
      if (size() >= most + most) trim();
      for (const name of names) lists[name].push(row[name]);
      return dropped + size() - 1;
    },
    set(number, name, value) {
      if (number >= dropped) lists[name][number - dropped] = value;
    },
    read() {
      trim();
      return lists;
    },
  };
}

/** Rows of two that are each in the order of `by`, in that order. */
export function merged<Name extends string>(
  a: Record<Name, number[]>,
  b: Record<Name, number[]>,
  by: NoInfer<Name>,
): Record<Name, number[]> {
  const names = Object.keys(a) as Name[];
  const both = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  let i = 0;
  let j = 0;
  while (i < a[by].length || j < b[by].length) {
    const isA = j >= b[by].length || (i < a[by].length && (a[by][i] as number) < (b[by][j] as number));
    const from = isA ? a : b;
    const at = isA ? i++ : j++;
    for (const name of names) both[name].push(from[name][at] as number);
  }
  return both;
}

/** Each number as the difference to the one before it; the first to 0. */
export const steps = (numbers: readonly number[]): number[] =>
  numbers.map((number, i) => number - (i === 0 ? 0 : (numbers[i - 1] as number)));
