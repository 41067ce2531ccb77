// Checks of plain data: what a value must be, and where in it something is wrong. For files that people
// write.

/** `holds` for a value by itself; `inside` looks into it. */
export interface Check {
  readonly expects: string;
  readonly holds?: (value: unknown) => boolean;
  readonly inside?: (checker: Checker, value: unknown, path: string) => void;
  readonly isOptional?: true;
  /** It is not among the fields that there are. */
  readonly isUnnamed?: true;
}

export type Shape = Readonly<Record<string, Check>>;

/** Remembers the first thing that is wrong. */
export class Checker {
  problem: string | null = null;
  private readonly whole: string;

  /** `whole` is what all of it is called. */
  constructor(whole = 'the scenario') {
    this.whole = whole;
  }

  fail(path: string, what: string): void {
    this.problem ??= `${path === '' ? this.whole : path}: ${what}`;
  }

  check(check: Check, value: unknown, path: string): void {
    if (this.problem !== null) return;
    if (value === undefined && check.isOptional) return;
    if (check.holds && !check.holds(value))
      this.fail(path, `expected ${check.expects}, not ${textOf(value)}`);
    else check.inside?.(this, value, path);
  }
}

const TEXT_SHOWN_MAX = 60;
/** How a value is shown that is not what it must be. */
export function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (isUncalled(value)) return uncalledText(value);
  const text =
    typeof value === 'bigint' ? `${value}n` : typeof value === 'number' ? String(value) : jsonOf(value);
  return text.length > TEXT_SHOWN_MAX ? `${text.slice(0, TEXT_SHOWN_MAX)}...` : text;
}

type Uncalled = (...given: never[]) => unknown;
/** A word of plays in the place of what it gives, most likely. */
export const isUncalled = (value: unknown): value is Uncalled => typeof value === 'function';
export const uncalledText = ({ name }: Uncalled): string =>
  name === '' ? 'a function: call it' : `the function ${name}: call it, ${name}(...)`;

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, plain) ?? String(value);
  } catch {
    return `${Array.isArray(value) ? 'a list' : 'an object'} that no JSON can hold: it contains itself`;
  }
}

const plain = (_field: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const maybe = (check: Check): Check => ({ ...check, isOptional: true });
export const isText: Check = { expects: 'a text', holds: (value) => typeof value === 'string' };
export const number: Check = { expects: 'a whole number', holds: (value) => Number.isSafeInteger(value) };
/** The first, the second, ... */
export const ordinal: Check = {
  expects: 'a whole number from 1',
  holds: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
};
export const whole: Check = {
  expects: 'a whole number from 0',
  holds: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
};
/** A chance, in a million. */
export const ppm: Check = {
  expects: 'a whole number from 0 to 1000000',
  holds: (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 1_000_000,
};
export const yesOrNo: Check = { expects: 'true or false', holds: (value) => typeof value === 'boolean' };
/** A field that people look for here: `expects` says what is written instead. */
export const elsewhere = (expects: string): Check => ({
  expects,
  holds: () => false,
  isOptional: true,
  isUnnamed: true,
});
export const oneOf = (words: readonly string[]): Check => ({
  expects: `one of ${words.join(', ')}`,
  holds: (value) => typeof value === 'string' && words.includes(value),
});

export const listOf = (item: Check): Check => ({
  expects: 'a list',
  inside: (checker, value, path) => {
    if (!Array.isArray(value)) return checker.fail(path, `expected a list, not ${textOf(value)}`);
    for (const [i, one] of value.entries()) checker.check(item, one, `${path}[${i}]`);
  },
});

/** Of a value whose shape is right: `wrong` says what is expected besides, or null. */
export const also = (check: Check, wrong: (value: never) => string | null): Check => ({
  expects: check.expects,
  inside: (checker, value, path) => {
    checker.check(check, value, path);
    const expected = checker.problem === null ? wrong(value as never) : null;
    if (expected !== null) checker.fail(path, `expected ${expected}, not ${textOf(value)}`);
  },
});

/** Of a value without this field, which another kind has: `expects` says which of them belongs here. */
export const without = (field: string, expects: string, check: Check): Check => ({
  expects,
  inside: (checker, value, path) => {
    if (isObject(value) && Object.hasOwn(value, field))
      checker.fail(path, `expected ${expects}, not ${textOf(value)}`);
    else checker.check(check, value, path);
  },
});

/** Any number of fields: what their names must be, and their values. */
export const record = (name: Check, item: Check): Check => ({
  expects: 'an object',
  inside: (checker, value, path) => {
    if (!isObject(value)) return checker.fail(path, `expected an object, not ${textOf(value)}`);
    for (const [field, one] of Object.entries(value)) {
      checker.check(name, field, path);
      checker.check(item, one, `${path}.${field}`);
    }
  },
});

/** Some of the fields that these defaults have, each of the same kind. */
export const someOf = (defaults: object, words: Readonly<Record<string, Check>> = {}): Check =>
  object(
    Object.fromEntries(
      Object.entries(defaults).map(([field, usual]) => [field, maybe(words[field] ?? ofKind(usual))]),
    ),
  );

export const INT64_END = 0x8000_0000_0000_0000n;

function ofKind(usual: unknown): Check {
  if (typeof usual === 'boolean') return yesOrNo;
  if (typeof usual === 'number') return whole;
  const least = usual as bigint;
  const from = least < 0n ? least : 0n;
  return {
    expects: `a bigint from ${from}n, less than 2^63 (in JSON {"$n":"${from}"})`,
    holds: (value) => typeof value === 'bigint' && value >= from && value < INT64_END,
  };
}

const namesOf = (shape: Shape): string[] => Object.keys(shape).filter((name) => !shape[name]?.isUnnamed);

function checkFields(
  checker: Checker,
  shape: Shape,
  value: Readonly<Record<string, unknown>>,
  path: string,
): void {
  const inner = (field: string): string => (path === '' ? field : `${path}.${field}`);
  for (const field of Object.keys(value)) {
    if (!Object.hasOwn(shape, field)) {
      return checker.fail(inner(field), `no such field; there are ${namesOf(shape).join(', ')}`);
    }
  }
  for (const [field, check] of Object.entries(shape)) checker.check(check, value[field], inner(field));
}

export const object = (shape: Shape, expects = 'an object'): Check => ({
  expects,
  inside: (checker, value, path) => {
    if (!isObject(value)) return checker.fail(path, `expected ${expects}, not ${textOf(value)}`);
    checkFields(checker, shape, value, path);
  },
});

/** A union told apart by the text in one field. */
export const tagged = (
  tag: string,
  shapes: Readonly<Record<string, Shape>>,
  expects = 'an object',
): Check => ({
  expects,
  inside: (checker, value, path) => {
    if (!isObject(value)) return checker.fail(path, `expected ${expects}, not ${textOf(value)}`);
    const word = value[tag];
    const at = path === '' ? tag : `${path}.${tag}`;
    if (typeof word !== 'string' || !Object.hasOwn(shapes, word)) {
      return checker.fail(at, `expected one of ${Object.keys(shapes).join(', ')}, not ${textOf(word)}`);
    }
    checkFields(checker, { [tag]: isText, ...shapes[word] }, value, path);
  },
});

/** A union told apart by which first field is there. */
export const each = (what: string, shapes: readonly Shape[]): Check => ({
  expects: `a ${what}`,
  inside: (checker, value, path) => {
    const firsts = shapes.map((shape) => Object.keys(shape)[0] as string);
    const found = isObject(value) ? firsts.findIndex((first) => Object.hasOwn(value, first)) : -1;
    const shape = shapes[found];
    if (!shape || !isObject(value)) {
      return checker.fail(path, `expected a ${what} with ${firsts.join(', ')}, not ${textOf(value)}`);
    }
    checkFields(checker, shape, value, path);
  },
});

/** What nobody here waits for. */
export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
