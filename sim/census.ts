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
