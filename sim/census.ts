// Counts what an actor's state holds, whatever its shape: how many entries lie in collections, by where they lie.

/** Entries by place: `.history.blocks`, or `.views[].votes` for those of all views together. */
export type Census = ReadonlyMap<string, number>;

/** Each collection once, by the first way that leads to it. Bytes are no entries, and private names (`#`) are out of sight. */
export function censusOf(root: unknown): Census {
  const counts = new Map<string, number>();
  const seen = new Set<object>();
  const walk = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    const count = (entries: number): void => void counts.set(place, (counts.get(place) ?? 0) + entries);
    if (value instanceof Map) {
      count(value.size);
      for (const [key, each] of value) {
        walk(key, `${place}.keys`);
        walk(each, `${place}[]`);
      }
    } else if (value instanceof Set || Array.isArray(value)) {
      count(value instanceof Set ? value.size : value.length);
      for (const each of value) walk(each, `${place}[]`);
    } else {
      for (const [name, each] of Object.entries(value)) walk(each, `${place}.${name}`);
    }
  };
  walk(root, '');
  return counts;
}

/** The sum of a census, without what lies under names that `isLeftOut` knows: a tenth of the cost, for who asks often. */
export function entriesIn(root: unknown, isLeftOut: (name: string) => boolean): number {
  const waiting: object[] = [];
  const seen = new Set<object>();
  const meet = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    waiting.push(value);
  };
  meet(root);
  let entries = 0;
  for (let value = waiting.pop(); value; value = waiting.pop()) {
    if (value instanceof Map) {
      entries += value.size;
      for (const [key, each] of value) {
        meet(key);
        meet(each);
      }
    } else if (value instanceof Set) {
      entries += value.size;
      for (const each of value) meet(each);
    } else if (Array.isArray(value)) {
      entries += value.length;
      for (let i = 0; i < value.length; i++) meet(value[i]);
    } else {
      for (const name of Object.keys(value))
        if (!isLeftOut(name)) meet((value as Readonly<Record<string, unknown>>)[name]);
    }
  }
  return entries;
}
