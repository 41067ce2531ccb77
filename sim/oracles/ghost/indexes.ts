// Places in a validator set, as bits: who of its members spoke. A set of numbers hashes each, and one is made for every step of every node.

/** Small whole numbers: as many bits are kept as the largest of them says. */
export class Indexes {
  private readonly words: number[] = [];

  has(index: number): boolean {
    return ((this.words[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0;
  }

  add(index: number): void {
    const at = index >>> 5;
    while (this.words.length <= at) this.words.push(0);
    this.words[at] = (this.words[at] as number) | (1 << (index & 31));
  }

  addAll(others: Indexes): void {
    for (let at = 0; at < others.words.length; at++) {
      if (at === this.words.length) this.words.push(0);
      this.words[at] = (this.words[at] as number) | (others.words[at] as number);
    }
  }
}
