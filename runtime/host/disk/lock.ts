// A folder is one process's: its lock, who holds it, and when that is believed to be dead. Two nodes on one home would sign with one key.

import {
  existsSync,
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { bootNow, readOr, UNKNOWN } from './boot.ts';
import { type SetupError, TakenError, throwLater, trying } from './files.ts';

/** Who holds a folder: what stands in its lock, in one line of fields. */
interface Holder {
  readonly pid: number;
  /**
   * Its start time in clock ticks (Linux): an id is used again. Versions before wrote no more than these two.
   */
  readonly started: string;
  /** Of the machine's boot, and of the namespace in which its id counts: each container has one (Linux). */
  readonly boot: string;
  readonly namespace: string;
}

const namespaceHere = (): string => readOr(UNKNOWN, () => readlinkSync('/proc/self/ns/pid', 'latin1'));

/** Null: no such process. `?`: it lives, and there is no telling since when. */
function startOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EPERM') return null; // EPERM: it lives, as another user
  }
  return readOr(UNKNOWN, () => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Fields after the command, which may hold spaces and brackets: field 3 is the first.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  });
}

const self = (): Holder => ({
  pid: process.pid,
  started: startOf(process.pid) ?? UNKNOWN,
  boot: bootNow(),
  namespace: namespaceHere(),
});

const markOf = ({ pid, started, boot, namespace }: Holder): string =>
  `${pid} ${started} ${boot} ${namespace}`;

function holderOf(mark: string): Holder {
  const [pid, started = '', boot = UNKNOWN, namespace = UNKNOWN] = mark.split(' ');
  return { pid: Number(pid), started, boot, namespace };
}

/** Who holds a lock says so by the time of its file, this often. */
const BEAT_MS = 5_000;
/** Who said nothing for so long is dead: a container that was killed is started again by itself. */
const SILENT_MS = 60_000;

/**
 * `elsewhere`: on this machine since it booted, in a container that is not ours; that it lives can be seen by its
 * beat alone. (A lock of another boot is stale: a home is never shared by two machines.)
 * @param silentMs since its last beat
 */
function lifeOf(holder: Holder, ours: Holder, silentMs: number): 'lives' | 'dead' | 'elsewhere' {
  const differs = (key: 'boot' | 'namespace'): boolean =>
    holder[key] !== UNKNOWN && ours[key] !== UNKNOWN && holder[key] !== ours[key];
  if (differs('boot')) return 'dead';
  if (differs('namespace')) return silentMs < SILENT_MS ? 'elsewhere' : 'dead';
  return startOf(holder.pid) === holder.started ? 'lives' : 'dead';
}

/**
 * Takes the folder for this process, so that two nodes never write one set of files (and never sign with
 * one key). A lock left by a dead process is taken over. The answer lets go.
 * @param onLost the folder is not ours any more: this process stood still for longer than `SILENT_MS`, or the lock was removed
 */
export function lockFolder(folder: string, onLost: (error: SetupError) => void = throwLater): () => void {
  const lock = join(folder, 'LOCK');
  const ours = self();
  // Processes of two containers may have one id.
  const mine = join(folder, `LOCK.${ours.pid}.${ours.namespace.replace(/\D/g, '')}`);
  return trying(`cannot lock ${folder}`, () => {
    try {
      writeFileSync(mine, markOf(ours)); // on a full disk it is made, and stays empty
      for (let attempt = 0; ; attempt++) {
        if (linked(mine, lock)) return held(lock, markOf(ours), () => onLost(takenOver(folder)));
        const mark = readLock(lock);
        const holder = holderOf(mark);
        const life = lifeOf(holder, ours, silenceOf(lock));
        if (life === 'elsewhere') throw inUseElsewhere(folder, holder);
        if (life === 'lives' || attempt >= 3) throw inUse(folder, holder);
        removeStale(lock, mark, `${mine}.stale`);
      }
    } finally {
      rmSync(mine, { force: true });
    }
  });
}

function held(lock: string, mark: string, onLost: () => void): () => void {
  /** One that is gone may have been another's since; one that cannot be read, or whose folder is gone, may still be ours. */
  const isLost = (): boolean =>
    existsSync(lock) ? ![mark, ''].includes(readLock(lock)) : existsSync(dirname(lock));
  const beat = (): void => {
    if (isLost()) {
      clearInterval(beats);
      onLost();
      return;
    }
    try {
      utimesSync(lock, new Date(), new Date());
    } catch {} // the folder is gone, or full: the next beat may come through
  };
  const beats = setInterval(beat, BEAT_MS);
  beats.unref();
  return () => {
    clearInterval(beats);
    if (!isLost()) rmSync(lock, { force: true });
  };
}

function silenceOf(lock: string): number {
  try {
    return Date.now() - statSync(lock).mtimeMs;
  } catch {
    return 0; // gone since
  }
}

const inUse = (folder: string, { pid }: Holder): SetupError =>
  new TakenError(
    `${folder} is in use by process ${pid}; stop it, or choose another home ` +
      `(if no such node runs, remove ${folder}/LOCK)`,
  );

const takenOver = (folder: string): SetupError =>
  new TakenError(
    `${folder} is not this process's any more: another one took it while this one stood still, or its LOCK was removed; ` +
      'this one ends, and writes nothing more',
  );

const inUseElsewhere = (folder: string, { pid, namespace }: Holder): SetupError =>
  new TakenError(
    `${folder} is in use by process ${pid} of another container (${namespace}), or was a moment ago; ` +
      'stop it, or choose another home: two nodes would sign with one key ' +
      `(of one that was killed the home is free after ${SILENT_MS / 1_000} s)`,
  );

/** link(2) fails when the name is taken: of several processes one wins. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false;
    throw error;
  }
}

function readLock(lock: string): string {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return ''; // gone since: the next attempt finds it free
  }
}

/** Takes the dead holder's lock away; puts it back when, meanwhile, it became that of a living one. */
function removeStale(lock: string, mark: string, aside: string): void {
  try {
    renameSync(lock, aside);
  } catch {
    return; // another process was faster
  }
  if (readLock(aside) !== mark) linked(aside, lock);
  rmSync(aside, { force: true });
}
