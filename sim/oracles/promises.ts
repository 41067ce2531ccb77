// What each oracle promises, in half a sentence.

/** By oracle; of the chain's by what it begins with, too. */
export const PROMISES: Readonly<Record<string, string>> = {
  'chain/agreement': 'no two honest nodes commit different blocks at a height',
  'chain/validity': 'every block follows from the one before it and holds only what was submitted',
  'chain/integrity': 'each height is executed once and in order, each transaction once',
  'chain/certificate': 'every commit carries the signatures of more than two thirds of its validators',
  'chain/time':
    'block times grow, and are not ahead of every honest clock; what is signed is dated by the clock',
  'chain/proposer': 'validators propose in turn',
  'chain/app hash': 'all nodes have one app hash at a height',
  'chain/application state': 'all applications have one state at a height, after any crash',
  'chain/recovery': 'all nodes have one state at a height, after any crash',
  'vote-uniqueness': 'an honest key signs one vote for a height, round and step, over its whole life',
  proposals: 'an honest proposer says one thing in a round, and nobody honest refuses it',
  turns: 'whose turn it is, and has time for it, proposes',
  lock: 'who precommitted a block prevotes another only after two thirds did so in between',
  justified: 'what an honest node says is allowed by what had reached it, and is true',
  progress: 'who can act by a rule of the algorithm acts at once',
  timeouts: 'a node waits as long as it is configured to, longer in each round',
  waiting: 'an empty block has a reason, and who has one does not wait',
  present: 'whose precommit reached the proposer in time is not absent from the next block',
  evidence: 'who signs two things is punished once, and nobody else ever',
  'light-client':
    'a light client reaches each height by the headers, and they carry the sets that the chain decided',
  mempool: 'what a node accepted is in the next block that it proposes, oldest first and within the limits',
  admission: 'new transactions are asked about, and offered to each peer',
  application:
    'applications are told what the blocks say, in the order of ABCI, and what they answer, alike of one proposal, counts',
  stores: 'a store holds what its node says that it holds, and lets go of what nobody needs',
  logbook: 'a log explains what its node said',
  durable: 'nothing leaves an actor before what it wrote earlier, and was to wait for, is durable',
  resources:
    'what a height makes a node log is bounded, whatever liars send, and so is what it sends at once',
  memory: 'what a node keeps in mind does not grow with the chain, nor with what one peer says',
  offers: 'what a node has is offered to whoever lacks it, and not to who gave it',
  livelock: 'the actors of a node come to rest',
  blame: 'nobody honest is cut off for what it did not do',
  serving: 'who asks for blocks is answered, and not without end; who knows what it has says so',
  fetching:
    'block sync asks for no more than it may hold, and no peer for more than its share; a second peer in its time, and at once for what one owed that went',
  joining: 'block sync ends where the chain does, and not before',
  greeting:
    'only who greets as what it is, of this chain, is spoken to, on the channel for it and in words of CometBFT',
  dialing: 'a peer that was told of is dialled until it is up, at growing intervals',
  forensics: 'a fork names the guilty, and nobody else',
  hygiene: 'no actor throws, no honest node halts, timers stay few',
  liveness: 'once all trouble is over, whoever reaches more than two thirds commits again',
  play: 'the play comes true',
};
