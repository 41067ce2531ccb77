// What a play says that no play can.

/** A play is not what a play must be: the message says where and why. */
export class ScenarioError extends Error {
  override name = 'ScenarioError';
}
