// The steps of a height as `step` events number them (spec 5.1, CometBFT cstypes.RoundStepType). Not the table of `machines/consensus`: a
// wrong number there must not become right for those who watch.

export const STEP = {
  newHeight: 1,
  newRound: 2,
  propose: 3,
  prevote: 4,
  prevoteWait: 5,
  precommit: 6,
  commit: 8,
} as const;

/** As people read them. */
export const STEP_TEXT: Readonly<Record<number, string>> = {
  [STEP.newHeight]: 'new height',
  [STEP.newRound]: 'new round',
  [STEP.propose]: 'propose',
  [STEP.prevote]: 'prevote',
  [STEP.prevoteWait]: 'prevote wait',
  [STEP.precommit]: 'precommit',
  [STEP.commit]: 'commit',
};
