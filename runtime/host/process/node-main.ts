// A node's process from its first line to its exit code: signals, the channel to the cluster, and errors that
// end it.

import { parseArgs } from 'node:util';
import { SetupError, TakenError } from '../disk/files.ts';
import { untilTime } from './genesis-time.ts';
import { printable } from './lines.ts';
import { NodeLife } from './node-life.ts';
import { type FromNode, NODE_EXIT, type ToNode } from './process-words.ts';

const STATUS_EVERY_MS = 250;
/** Closing waits for the disk; one that does not answer must not keep the process for ever. */
const CLOSE_MS_MAX = 8_000;

/** @param hasCluster the process was given a channel to a cluster, whatever became of it */
export async function main(argv: readonly string[], hasCluster: boolean): Promise<void> {
  if (hasCluster && !process.connected) return; // the cluster died while our process began
  const { values } = parseArgs({
    args: [...argv],
    options: { home: { type: 'string' }, record: { type: 'string' }, commit: { type: 'string' } },
  });
  const running = new NodeProcess();
  await running.run(values.home ?? '.', values.record ?? null, values.commit ?? 'unknown');
}

class NodeProcess {
  private life: NodeLife | null = null;
  private isEnding = false;
  private readonly stopping = new AbortController();
  private isClosing = false;
  private hasTold = false;
  /** Of what went wrong first. */
  private code: number = NODE_EXIT.stopped;

  async run(home: string, record: string | null, commit: string): Promise<void> {
    this.listen();
    try {
      const life = await NodeLife.begin({
        home,
        record,
        commit,
        say,
        tell,
        // A bug of an actor: its turn is the last that is recorded.
        ended: (because, isBug) => this.fail(because, isBug, { hint: isBug ? this.life?.replayHint : null }),
        lost: leave,
        signal: this.stopping.signal,
      });
      this.life = life;
      if (this.isEnding) return await this.end();
      setInterval(() => this.tellStatus(), STATUS_EVERY_MS).unref();
      const { genesisMs } = life;
      if (genesisMs > Date.now())
        say(`waits until its chain begins, at ${new Date(genesisMs).toISOString()}`);
      await untilTime(genesisMs, () => this.isEnding);
      if (!this.isEnding) life.start();
    } catch (error) {
      this.failWith(error);
    }
  }

  private listen(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void this.stop());
    process.on('disconnect', () => void this.stop()); // the cluster is gone: nobody would stop us later
    process.on('message', (word: ToNode) => this.hear(word));
    process.on('uncaughtException', (error) => this.onUncaught(error));
    // A reader of our lines that went away is no reason to die.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  }

  private hear(word: ToNode): void {
    if (word.type === 'submit') this.life?.submit(word.txs);
    else if (word.type === 'status') this.tellStatus();
    else void this.stop();
  }

  private tellStatus(): void {
    if (this.life && !this.isEnding) tell({ type: 'status', ...this.life.status() });
  }

  private async stop(): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    this.stopping.abort();
    if (this.life) await this.end();
  }

  /** While it ends this may come again and again, and nothing that is left to close is worth that. */
  private onUncaught(error: unknown): void {
    const wasEnding = this.isEnding;
    this.failWith(error);
    if (wasEnding) process.exit(this.code);
  }

  private failWith(error: unknown): void {
    if (error instanceof SetupError)
      this.fail(error.message, false, { isTaken: error instanceof TakenError });
    else this.fail(error instanceof Error ? (error.stack ?? error.message) : String(error), true);
  }

  /**
   * Says why, closes what can be closed, and ends the process with a code that tells a bug from a refusal.
   */
  private fail(
    because: string,
    isBug: boolean,
    { isTaken = false, hint }: { isTaken?: boolean; hint?: string | null | undefined } = {},
  ): void {
    console.error(because);
    this.code ||= isBug ? NODE_EXIT.bug : NODE_EXIT.refused;
    this.tellWhy(because, isTaken);
    // Asked to stop while its life began, which is refused now: there is nobody else to end it.
    const isForgotten = this.life === null && !this.isClosing;
    if (this.isEnding && !isForgotten) return;
    this.isEnding = true;
    if (hint) console.error(hint);
    void this.end();
  }

  /** The cluster may show nobody what we print. Of several reasons the first counts, as with the code. */
  private tellWhy(because: string, isTaken = false): void {
    if (this.hasTold) return;
    this.hasTold = true;
    tell({ type: 'fatal', because: because.split('\n')[0] as string, isTaken });
  }

  private async end(): Promise<void> {
    this.isClosing = true;
    setTimeout(() => this.giveUp(`the disk did not answer within ${CLOSE_MS_MAX} ms`), CLOSE_MS_MAX).unref();
    try {
      await this.life?.end();
    } catch (error) {
      this.breakOff(error instanceof Error ? error.message : String(error));
    }
    tell({ type: 'status', ...NOTHING, ...this.life?.status() });
    if (process.connected) process.disconnect();
    process.exitCode = this.code;
    setImmediate(() => process.exit());
  }

  /** What is not closed by now stays so. */
  private breakOff(because: string): never {
    console.error(because);
    this.tellWhy(because);
    process.exit(this.code || NODE_EXIT.refused);
  }

  /** To exit would be to wait for what the disk still owes, for as long as that hangs. */
  private giveUp(because: string): void {
    console.error(because);
    this.tellWhy(because);
    process.kill(process.pid, 'SIGKILL');
  }
}

const NOTHING = {
  height: 0n,
  round: 0,
  step: 0,
  mode: 'down',
  peers: 0,
  pool: 0,
  cpuMs: 0,
  rssBytes: 0,
  deliveries: 0,
};

/** At once, and nothing is closed: the folder is not ours to write in, and lmdb would, as the process exits. */
function leave(because: string): never {
  console.error(because);
  tell({ type: 'fatal', because, isTaken: true });
  process.removeAllListeners('exit');
  process.exit(NODE_EXIT.refused);
}

const say = (line: string): void => void process.stdout.write(`${printable(line)}\n`);

/** To nobody when the process was started by hand. */
function tell(word: FromNode): void {
  if (process.connected) process.send?.(word, undefined, {}, () => {});
}
