// The applications that come with us, by the names that plays and config.toml use.

import { type Refusal, refuse } from '../../protocol/refusal.ts';
import type { Application } from './application.ts';
import { Counter } from './counter.ts';
import { KvStore } from './kvstore.ts';
import { Noop } from './noop.ts';

const APPLICATION_NAMES = ['kvstore', 'persistent_kvstore', 'counter', 'counter_serial', 'noop'] as const;

/** A fresh application by the name that `--proxy_app` takes (spec 7). */
export function applicationNamed(name: string): Application | Refusal<'unknown-application'> {
  switch (name) {
    case 'kvstore':
    case 'persistent_kvstore':
      return new KvStore();
    case 'counter':
      return new Counter(false);
    case 'counter_serial':
      return new Counter(true);
    case 'noop':
      return new Noop();
    default:
      return refuse(
        'unknown-application',
        `no application is named ${name}: use one of ${APPLICATION_NAMES.join(', ')}`,
      );
  }
}
