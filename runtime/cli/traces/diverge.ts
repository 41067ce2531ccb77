// Finds the first record in which two traces differ, and says what differs in it. Streams both: memory does
// not grow with them.

import { configOfValue, type NodeConfig } from '../../../actors/node.ts';
import { peerActorOf, peerOfActor } from '../../../actors/turn.ts';
import { bytesOfHex, equalBytes, hexOf } from '../../../protocol/bytes.ts';
import { addressOf } from '../../../protocol/keys.ts';
import type { TraceHeader, TraceRecord } from '../../kernel/trace.ts';
import { messageName, messageOfRecord, type Names, secondsOf } from '../telling.ts';
import type { TraceFile } from './trace-file.ts';

export interface FirstDifference {
  /** The header being 0. */
  readonly record: number;
  readonly node: string;
  readonly actor: string;
  /** Type of the message that began the turn, or `boot`, `spawn`, `stop`. */
  readonly message: string;
  /** Seconds since the first record of the trace, on the node's wall clock; null: a `stop` has no time. */
  readonly seconds: string | null;
  /**
   * `input`: another turn, or the same with another input. `effects`: the same input, and another answer.
   * `end`: one trace is longer.
   */
  readonly differs: 'cast' | 'input' | 'effects' | 'end';
  readonly what: string;
}

/** Null: the same records, all of them. */
export function firstDifference(a: TraceFile, b: TraceFile): FirstDifference | null {
  const cast = castDifference(a.header, b.header);
  if (cast) return cast;
  const names = namesOf(a.header);
  const left = a.records();
  const right = b.records();
  let began: bigint | null = null;
  for (let record = 1; ; record++) {
    const one = left.next();
    const two = right.next();
    if (one.done && two.done) return null;
    if (one.done || two.done) {
      const longer = (one.done ? two.value : one.value) as TraceRecord;
      const what = `${one.done ? a.path : b.path} ends here and the other goes on`;
      return { ...about(longer, record, names, began), differs: 'end', what };
    }
    began ??= one.value.kind === 'stop' ? null : one.value.wallNs;
    const found = compare(one.value, two.value, names);
    if (found) return { ...about(one.value, record, names, began), ...found };
  }
}

function castDifference(a: TraceHeader, b: TraceHeader): FirstDifference | null {
  const place = {
    record: 0,
    node: '',
    actor: '',
    message: 'header',
    seconds: null,
    differs: 'cast',
  } as const;
  if (a.nodes.length !== b.nodes.length) {
    return { ...place, what: `one has ${a.nodes.length} nodes, the other ${b.nodes.length}` };
  }
  const at = a.nodes.findIndex((node, i) => JSON.stringify(node) !== JSON.stringify(b.nodes[i]));
  if (at < 0) return null;
  return { ...place, node: nameAt(namesOf(a), at), what: 'its configuration is another in the two headers' };
}

/** Of the nodes of a trace, also by index. */
export interface NodeNames extends Names {
  readonly nodes: readonly string[];
}

/** Names of nodes by index, by peer id, and by the address of their validator key. */
export function namesOf(header: TraceHeader): NodeNames {
  const configs: NodeConfig[] = header.nodes.map(configOfValue);
  const byId = new Map(configs.map(({ id, name }) => [id, name]));
  const byAddress = new Map(
    configs.map(({ publicKey, name }) => [publicKey && addressText(publicKey), name]),
  );
  return {
    nodes: configs.map(({ name }, i) => name || `node ${i}`),
    byPeer: (peer) => byId.get(peer) ?? peer.slice(0, 8),
    byAddress: (address) => byAddress.get(hexOf(address)) ?? hexOf(address).slice(0, 8),
  };
}

function addressText(publicKey: string): string | null {
  const bytes = bytesOfHex(publicKey);
  return bytes && hexOf(addressOf({ type: 'ed25519', bytes }));
}

const nameAt = (names: NodeNames, node: number): string => names.nodes[node] ?? `node ${node}`;

function about(
  record: TraceRecord,
  number: number,
  names: NodeNames,
  began: bigint | null,
): Omit<FirstDifference, 'differs' | 'what'> {
  const message = record.kind === 'turn' ? messageOfRecord(record) : null;
  return {
    record: number,
    node: nameAt(names, record.node),
    actor: actorName(record.actor, names),
    message: record.kind === 'turn' ? (message?.type ?? 'a message that does not decode') : record.kind,
    seconds: record.kind === 'stop' ? null : secondsOf(record.wallNs - (began ?? record.wallNs)),
  };
}

export function actorName(actor: string, names: NodeNames): string {
  const peer = peerOfActor(actor);
  return peer === null ? actor : peerActorOf(names.byPeer(peer));
}

function told(record: TraceRecord, names: NodeNames): string {
  const where = `${nameAt(names, record.node)} ${actorName(record.actor, names)}`;
  if (record.kind !== 'turn') return `${where} ${record.kind}`;
  const message = messageOfRecord(record);
  return `${where} ${message ? messageName(message, names) : 'a message that does not decode'}`;
}

function compare(
  a: TraceRecord,
  b: TraceRecord,
  names: NodeNames,
): Pick<FirstDifference, 'differs' | 'what'> | null {
  if (a.node === b.node && equalBytes(a.input, b.input)) {
    if (equalBytes(a.digest, b.digest)) return null;
    return { differs: 'effects', what: `the same input (${told(a, names)}), and other effects` };
  }
  const one = told(a, names);
  const two = told(b, names);
  if (one !== two) return { differs: 'input', what: `one has "${one}", the other "${two}"` };
  if (a.kind === 'stop' || b.kind === 'stop') return { differs: 'input', what: 'other bytes' };
  if (a.wallNs !== b.wallNs || a.monoNs !== b.monoNs) {
    const apart = `clocks ${a.monoNs - b.monoNs} ns apart, wall clocks ${a.wallNs - b.wallNs} ns`;
    return { differs: 'input', what: `"${one}" comes at another time: ${apart}` };
  }
  if (a.draws.join() !== b.draws.join()) {
    return {
      differs: 'input',
      what: `"${one}" drew [${a.draws.join(', ')}] in one, [${b.draws.join(', ')}] in the other`,
    };
  }
  return { differs: 'input', what: `"${one}" has other bytes` };
}

/** The difference as lines for a person. */
export function differenceLines(found: FirstDifference): string[] {
  const time = found.seconds === null ? '' : `, ${found.seconds} s`;
  const where = found.record === 0 ? 'header' : `record ${found.record}${time}`;
  const who = [found.node, found.actor, found.message].filter((part) => part !== '').join(' / ');
  return [`first difference: ${where}: ${who}`, `  ${found.differs}: ${found.what}`];
}
