// Where a node's logs and stores are: `<home>/data/<name>.log` and `<home>/data/<name>.db`.

import { join } from 'node:path';
import type { LogName, StoreName } from '../../../actors/turn.ts';

export const dataOf = (home: string): string => join(home, 'data');
export const logIn = (data: string, name: LogName): string => join(data, `${name}.log`);
export const storeIn = (data: string, name: StoreName): string => join(data, `${name}.db`);
