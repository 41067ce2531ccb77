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
  const first = name.indexOf(' ');
  const last = name.lastIndexOf(' ');
  asked = name;
  answer =
    first < 0 || last === first
      ? { step: name, height: 0n, round: 0 }
      : {
          step: name.slice(0, first),
          height: integerOf(name.slice(first + 1, last)),
          round: Number(name.slice(last + 1)),
        };
  return answer;
}

export function stepOf(name: string): string {
  const end = name.indexOf(' ');
  return end < 0 ? name : name.slice(0, end);
}

/** So many digits are safe in a number, which is read in a fraction of the time. */
const SAFE_DIGITS = 15;
const integerOf = (digits: string): bigint =>
  digits.length <= SAFE_DIGITS ? BigInt(Number(digits)) : BigInt(digits);
