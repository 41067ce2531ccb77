// Where a worker answers: a descriptor of its own, for anything may be printed on the others.

export const ANSWERS = 3;
