// How floor 0 says no: a refusal is a value that the caller must look at. A bug is thrown, by `must` and `unreachable`, and never caught in the core.

/** What a caller can do with the one who sent a refused thing. */
export type Refusal<Why extends string = string> = {
  readonly refused: Why;
  /** One sentence for people: names the field and what was expected. */
  readonly because: string;
};

export const refuse = <Why extends string>(refused: Why, because: string): Refusal<Why> => ({
  refused,
  because,
});

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'refused' in value;

/** Thrown for what cannot be: a bug of ours, which stops the node with its trace. */
export class Bug extends Error {
  override name = 'Bug';
}

export function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Bug(what);
}

export function unreachable(what: string): never {
  throw new Bug(what);
}
