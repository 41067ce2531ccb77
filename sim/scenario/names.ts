// The names of nodes in a play: what is one, and where they stand.

import type { NodeName, Scenario } from './play.ts';

export const isNodeName = (value: unknown): value is NodeName =>
  typeof value === 'string' && /^[vcf](0|[1-9][0-9]*)$/.test(value);

/** What stands here is text, whatever it looks like: a transaction, the reason of a halt, what a play is called. */
export const TEXT_FIELDS: ReadonlySet<string> = new Set(['tx', 'because', 'name', 'title']);

/** Names that a play speaks of, to be checked against its cast. */
export function namesIn(play: Scenario): Set<NodeName> {
  const names = new Set<NodeName>();
  const collect = (value: unknown): void => {
    if (isNodeName(value)) names.add(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null) {
      for (const [field, inner] of Object.entries(value)) if (!TEXT_FIELDS.has(field)) collect(inner);
    }
  };
  collect([play.act, play.holds, play.ends, play.liars]);
  return names;
}
