// Which timer of consensus a node asks for, by its name: `step height round`. Several oracles look at the same one in turn.

export interface NamedTimer {
  readonly step: string;
  readonly height: bigint;
  readonly round: number;
}

let asked = '';
let answer: NamedTimer = { step: '', height: 0n, round: 0 };

export function timerOf(name: string): NamedTimer {
  if (name === asked) return answer;
  const [step = '', height = '0', round = '0'] = name.split(' ');
  asked = name;
  answer = { step, height: BigInt(height), round: Number(round) };
  return answer;
}
