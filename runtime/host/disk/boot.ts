// Which boot of the machine this is (Linux): what a process wrote before it was killed is there as long as the
// machine has not been off.

import { readFileSync } from 'node:fs';

/** Of what this machine does not tell. */
export const UNKNOWN = '?';

export function readOr(unknown: string, read: () => string): string {
  try {
    return read().trim() || unknown;
  } catch {
    return unknown;
  }
}

export const bootNow = (): string =>
  readOr(UNKNOWN, () => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'));
