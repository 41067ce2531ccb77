// Counts what an actor's state holds, whatever its shape: how many entries lie in collections, by where they lie.

/** Entries by place: `.history.blocks`, or `.views[].votes` for those of all views together. */
export type Census = ReadonlyMap<string, number>;

/** Each collection once, by the first way that leads to it. Bytes are no entries, and private names (`#`) are out of sight. */
export function censusOf(root: unknown): Census {
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
        if (isObject(each)) walk(each, `${place}.${name}`);
      }
    }
  };
  if (isObject(root)) walk(root, '');
  return counts;
}

/** All entries together, but for those behind names that are left out: the sum of a census, in half its time. */
export function entriesIn(root: unknown, leftOut: ReadonlySet<string>): number {
  const seen = new Set<object>();
  const open: object[] = [];
  const meet = (value: unknown): void => {
    if (!isObject(value) || ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    open.push(value);
  };
  let entries = 0;
  meet(root);
  for (let next = open.pop(); next; next = open.pop()) {
    if (next instanceof Map) {
      entries += next.size;
      for (const key of next.keys()) meet(key);
      for (const value of next.values()) meet(value);
    } else if (next instanceof Set) {
      entries += next.size;
      for (const value of next) meet(value);
    } else if (Array.isArray(next)) {
      entries += next.length;
      for (let i = 0; i < next.length; i++) meet(next[i]);
    } else {
      for (const name of Object.keys(next))
        if (!leftOut.has(name)) meet((next as Record<string, unknown>)[name]);
    }
  }
  return entries;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
