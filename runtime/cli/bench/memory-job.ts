// What is asked of the process that measures memory, and what it answers.

export interface MemoryJob {
  readonly memory: { readonly validators: number; readonly deliveries: number; readonly memo: boolean };
}

export interface MemoryResult {
  readonly validators: number;
  readonly heights: number;
  readonly deliveries: number;
  /** The most that the process had in memory, the engine and its garbage included. */
  readonly peakBytes: number;
  /** V8 ends a process whose old objects need more than that. */
  readonly heapLimitBytes: number;
  readonly seconds: number;
}
