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
import { SetupError, TakenError, throwLater, trying } from './files.ts';

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

/**
 * It is over, and stands there until its parent looks: `kill -9` does nothing to it. One whose thread still hangs in the disk looks the same, but
 * for the number of its threads, and may yet write.
 */
const isOver = (state: string | undefined, threads: string | undefined): boolean =>
  (state === 'Z' || state === 'X') && threads === '1';

/** Null: no such process. `?`: it lives, and there is no telling since when. */
function startOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EPERM') return null; // EPERM: it lives, as another user
  }
  const stat = readOr('', () => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // Fields after the command, which may hold spaces and brackets: field 3 is the first.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return isOver(fields[0], fields[17]) ? null : fields[19] || UNKNOWN;
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
/** Who said nothing for so long seems dead: a container that was killed is started again by itself. */
const SILENT_MS = 60_000;
/**
 * The wall clock alone proves no silence, for it may have been set: a lock that seems silent is watched for more than two
 * beats, in so many steps of our own running time. What stood still with us (a machine that slept) had one step of it.
 */
const WATCH_STEP_MS = 500;
const WATCH_STEPS = (2.5 * BEAT_MS) / WATCH_STEP_MS;

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Who finds that it is another's turn to take a lock away looks again so much later, and so often. */
const TURN_MS = 50;
const ATTEMPTS = 5;

/** For whoever waits meanwhile. */
export interface LockWatching {
  /** A lock is watched: a line that says so, and for how long. */
  readonly onWatch?: (line: string) => void;
  /** Ends the watch: the folder is not taken, and SetupError says so. */
  readonly signal?: AbortSignal;
}

/** A lock as it was seen. */
interface Sight {
  readonly mark: string;
  /** When its holder last said that it lives, by the wall clock of then. */
  readonly beatMs: number;
}

/**
 * `elsewhere`: on this machine since it booted, in a container that is not ours; that it lives can be seen by its
 * beat alone. `silent`: there, too, and its last beat is long ago, or still to come. (A lock of another boot is stale: a
 * home is never shared by two machines.)
 */
function lifeOf({ mark, beatMs }: Sight, ours: Holder): 'lives' | 'dead' | 'elsewhere' | 'silent' {
  const holder = holderOf(mark);
  const differs = (key: 'boot' | 'namespace'): boolean =>
    holder[key] !== UNKNOWN && ours[key] !== UNKNOWN && holder[key] !== ours[key];
  if (differs('boot')) return 'dead';
  if (differs('namespace')) {
    const agoMs = Date.now() - beatMs;
    return agoMs > -BEAT_MS && agoMs < SILENT_MS ? 'elsewhere' : 'silent';
  }
  const started = startOf(holder.pid);
  // Where it cannot be seen since when it lives (hidepid), it may be the holder. An empty lock names nobody.
  const isHidden = started === UNKNOWN && holder.started !== '';
  return isHidden || started === holder.started ? 'lives' : 'dead';
}

/**
 * Takes the folder for this process, so that two nodes never write one set of files (and never sign with
 * one key). A lock left by a dead process is taken over: at once, or, of a container that is not ours, after it was
 * watched. The answer lets go.
 * @param onLost the folder is not ours any more: this process stood still until it seemed dead, or the lock was removed
 */
export async function lockFolder(
  folder: string,
  onLost: (error: SetupError) => void = throwLater,
  { onWatch, signal }: LockWatching = {},
): Promise<() => void> {
  const lock = join(folder, 'LOCK');
  const ours = self();
  // Processes of two containers may have one id.
  const mine = join(folder, `LOCK.${ours.pid}.${ours.namespace.replace(/\D/g, '')}`);
  const turn = join(folder, 'LOCK.taking');
  const cannot = `cannot lock ${folder}`;
  for (let attempt = 0; ; attempt++) {
    if (trying(cannot, () => taken(lock, mine, markOf(ours))))
      return held(lock, markOf(ours), () => onLost(takenOver(folder)));
    const seen = look(lock);
    if (seen === null && attempt < ATTEMPTS) continue; // it was let go of
    if (seen === null)
      throw new SetupError(
        `${cannot}: ${lock} is there, and cannot be read; give this user the right to read it, or remove it`,
      );
    const life = lifeOf(seen, ours);
    if (life === 'elsewhere') throw inUseElsewhere(folder, holderOf(seen.mark));
    if (life === 'lives') throw inUse(folder, holderOf(seen.mark));
    if (attempt >= ATTEMPTS) throw notTaken(folder, look(turn), ours);
    if (life === 'silent') onWatch?.(watches(folder, holderOf(seen.mark)));
    if (life !== 'dead' && !(await staysAs(lock, seen, signal))) continue;
    if (!trying(cannot, () => removed(lock, seen, turn, mine, ours))) await sleep(TURN_MS);
  }
}

/** link(2) fails when the name is taken: of several processes one wins. */
function taken(lock: string, mine: string, mark: string): boolean {
  try {
    rmSync(mine, { force: true }); // of a process that was killed here, and had our id, it may be the lock itself
    writeFileSync(mine, mark); // on a full disk it is made, and stays empty
    return linked(mine, lock);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** False as soon as it is another, or its holder lives. */
async function staysAs(lock: string, seen: Sight, signal: AbortSignal | undefined): Promise<boolean> {
  for (let step = 0; step < WATCH_STEPS; step++) {
    await sleep(WATCH_STEP_MS);
    if (signal?.aborted) throw new SetupError(`stopped while it watched whether the holder of ${lock} lives`);
    if (!isStill(lock, seen)) return false;
  }
  return true;
}

function held(lock: string, mark: string, onLost: () => void): () => void {
  /** One that is gone may have been another's since; one that cannot be read, or whose folder is gone, may still be ours. */
  const isLost = (): boolean =>
    existsSync(lock) ? ![mark, ''].includes(look(lock)?.mark ?? '') : existsSync(dirname(lock));
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

function isStill(lock: string, seen: Sight): boolean {
  const now = look(lock);
  return now !== null && now.mark === seen.mark && now.beatMs === seen.beatMs;
}

/** Null: there is none. */
function look(lock: string): Sight | null {
  try {
    return { beatMs: statSync(lock).mtimeMs, mark: readFileSync(lock, 'utf8') };
  } catch {
    return null;
  }
}

/** It is another's turn to take it away, again and again. */
function notTaken(folder: string, rival: Sight | null, ours: Holder): SetupError {
  if (rival === null)
    return new TakenError(
      `${folder}: the lock of a dead process could not be taken away; start again, or remove LOCK and LOCK.taking there if no node runs`,
    );
  return (lifeOf(rival, ours) === 'elsewhere' ? inUseElsewhere : inUse)(folder, holderOf(rival.mark));
}

const inUse = (folder: string, { pid }: Holder): SetupError =>
  new TakenError(
    `${folder} is in use by process ${pid}; stop it, or choose another home ` +
      `(if no such node runs, remove ${folder}/LOCK)`,
  );

const WATCH_S = (WATCH_STEPS * WATCH_STEP_MS) / 1_000;
const watches = (folder: string, { pid, namespace }: Holder): string =>
  `${folder} seems left by process ${pid} of another container (${namespace}): ` +
  `it is watched for ${WATCH_S} s, and taken if nobody there says that he lives`;

const takenOver = (folder: string): SetupError =>
  new TakenError(
    `${folder} is not this process's any more: another one took it while this one stood still, or its LOCK was removed; ` +
      'this one ends, and writes nothing more',
  );

const inUseElsewhere = (folder: string, { pid, namespace }: Holder): SetupError =>
  new TakenError(
    `${folder} is in use by process ${pid} of another container (${namespace}), or was a moment ago; ` +
      'stop it, or choose another home: two nodes would sign with one key ' +
      `(of one that was killed the home can be taken ${SILENT_MS / 1_000} s later: it is watched for ${WATCH_S} s then)`,
  );

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Takes a dead holder's lock away, one process at a time: each in its turn looks whether it still is that lock. Without turns who was held up between its
 * look and the removal would take away that of a living one, who had been faster. Turns of processes that were killed in them are stepped over, and go
 * after the lock: as long as it stands no two have a turn. False: it is another's turn.
 */
function removed(lock: string, seen: Sight, turn: string, mine: string, ours: Holder): boolean {
  const left: string[] = [];
  let own = turn;
  while (!taken(own, mine, markOf(ours))) {
    const rival = look(own);
    if (rival === null || !['dead', 'silent'].includes(lifeOf(rival, ours))) return false;
    left.push(own);
    own = `${turn}.${left.length}`;
  }
  try {
    if (!isStill(lock, seen)) return true;
    removeStale(lock, seen, `${mine}.stale`);
    for (const name of left) rmSync(name, { force: true });
    return true;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Puts it back when it had a beat as it was taken away. */
function removeStale(lock: string, seen: Sight, aside: string): void {
  try {
    renameSync(lock, aside);
  } catch {
    return; // another process was faster
  }
  if (!isStill(aside, seen)) putBack(aside, lock);
  rmSync(aside, { force: true });
}

/** Nowhere where another has it meanwhile. A file of another user may be renamed, and not linked (fs.protected_hardlinks). */
function putBack(aside: string, lock: string): void {
  try {
    linked(aside, lock);
  } catch {
    if (!existsSync(lock)) renameSync(aside, lock);
  }
}
