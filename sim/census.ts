// Counts what an actor's state holds, whatever its shape: how many entries lie in collections, by where they lie.

/** Entries by place: `.history.blocks`, or `.views[].votes` for those of all views together. */
export type Census = ReadonlyMap<string, number>;

/**
 * Each collection once, by the first way that leads to it. Bytes are no entries, and private names (`#`) are out of sight; so is what lies behind
 * the names that are left out.
 */
export function censusOf(root: unknown, leftOut: ReadonlySet<string> = NOTHING): Census {
  const counts = new Map<string, number>();
  const seen = new Set<object>();
  const count = (place: string, entries: number): void =>
    void counts.set(place, (counts.get(place) ?? 0) + entries);
  const walkAll = (values: Iterable<unknown>, place: string): void => {
    for (const each of values) if (isObject(each)) walk(each, place);
  };
  const walk = (value: object, place: string): void => {
    if (ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    if (value instanceof Map) {
      count(place, value.size);
      walkAll(value.keys(), `${place}.keys`);
      walkAll(value.values(), `${place}[]`);
    } else if (value instanceof Set || Array.isArray(value)) {
      count(place, value instanceof Set ? value.size : value.length);
      walkAll(value, `${place}[]`);
    } else {
      // Most of what an object holds are no objects, and a place is not named for them.
      for (const name of Object.keys(value)) {
        const each = (value as Record<string, unknown>)[name];
        if (isObject(each) && !leftOut.has(name)) walk(each, `${place}.${name}`);
      }
    }
  };
  if (isObject(root)) walk(root, '');
  return counts;
}

const NOTHING: ReadonlySet<string> = new Set();

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
