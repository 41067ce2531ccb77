// What `sim crashes` takes where nothing is said: also what the line that shows a crash again leaves out.

export const DEFAULTS = { heights: '20', validators: '4', nodes: 'v0', seed: '1' } as const;
