// All ports of one node over one home folder: <home>/data holds its logs and stores, and is locked while
// they are open.

import type { LogName, PeerId, StoreName } from '../../actors/turn.ts';
import type { Ports } from '../kernel/ports.ts';
import { hostClock } from './clock.ts';
import { makeFolder } from './disk/files.ts';
import { type LockWatching, lockFolder } from './disk/lock.ts';
import { type HostLog, openLog, type Repair } from './disk/log.ts';
import { type HostStore, openStore } from './disk/store.ts';
import { dataOf, logIn, storeIn } from './home/data-folder.ts';
import { hostMail } from './mail.ts';
import { type HostNet, type NetOptions, openNet } from './net/net.ts';
import { hostRandom } from './random.ts';
import { signKeeper } from './sign.ts';

type WhoMayCome = Pick<NetOptions, 'greetingMs' | 'inboundMax' | 'known' | 'onDialFailed' | 'onTurnedAway'>;

export interface HostOptions extends LockWatching, WhoMayCome {
  /** The node's folder; made when it is not there. */
  readonly home: string;
  /** Of the validator key: 32 bytes. */
  readonly seed: Uint8Array;
  /** Of the node key. */
  readonly peer: PeerId;
  /** ws://127.0.0.1:26656; port 0: the system chooses. */
  readonly listen: string;
  /** A log was cut at opening: for the person who runs the node. */
  readonly onRepair?: (repair: Repair) => void;
  /** The disk failed: the node cannot go on. By default thrown outside any turn, which ends the process. */
  readonly onFatal?: (error: Error) => void;
  /** The folder is another's now: whatever is closed or written from here on would be written over what is his. By default thrown, as above. */
  readonly onLost?: (error: Error) => void;
}

export interface HostPorts extends Ports {
  readonly net: HostNet;
  /** What peers dial. */
  readonly address: string;
  /** Makes everything durable, closes files and connections, cancels timers, throws mail under way away. */
  close(): Promise<void>;
}

/**
 * A log whose loss could make a validator sign twice for one step, or forget what it is locked on: damage that no crash explains stops the
 * start. The others are cut where the damage begins, and the node catches up from its peers.
 */
const NEVER_CUT: readonly LogName[] = ['privval'];

/** Refuses (SetupError) a home in use, a port in use, a file that cannot be opened. */
export async function hostPorts(options: HostOptions): Promise<HostPorts> {
  const data = dataOf(options.home);
  makeFolder(data);
  const unlock = await lockFolder(data, options.onLost, options);
  const logs = new Map<LogName, HostLog>();
  const stores = new Map<StoreName, HostStore>();
  const clock = hostClock();
  const mail = hostMail();
  const net = await openNet(options).catch((error) => {
    unlock();
    throw error;
  });
  const told = {
    ...(options.onRepair ? { onRepair: options.onRepair } : {}),
    ...(options.onFatal ? { onFatal: options.onFatal } : {}),
  };
  return {
    clock,
    random: hostRandom(),
    net,
    mail,
    sign: signKeeper(options.seed),
    address: net.address,
    log: (name) =>
      kept(logs, name, () =>
        openLog(logIn(data, name), { ...told, refuseCorruption: NEVER_CUT.includes(name) }),
      ),
    store: (name) => kept(stores, name, () => openStore(storeIn(data, name), told)),
    close: async () => {
      clock.close();
      mail.close();
      await net.shutdown();
      // Logs before stores: what a store's batch says happened must not be missing in the log. One that fails leaves the others to be closed.
      const failures: unknown[] = [];
      for (const each of [...logs.values(), ...stores.values()])
        await each.close().catch((error: unknown) => failures.push(error));
      unlock();
      if (failures.length > 0) throw failures[0];
    },
  };
}

function kept<Name, Opened>(open: Map<Name, Opened>, name: Name, make: () => Opened): Opened {
  let opened = open.get(name);
  if (opened === undefined) {
    opened = make();
    open.set(name, opened);
  }
  return opened;
}
