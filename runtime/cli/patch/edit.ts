// One change of a copy of the build.

export interface Edit {
  /** A file of `dist`, or a source (`.ts`): then all is built anew. */
  readonly file: string;
  /** Stands exactly once in it. */
  readonly find: string;
  readonly replace: string;
}
