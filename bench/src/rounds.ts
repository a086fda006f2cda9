/** The measurements of one round, taken within seconds of each other. */
export type Round<Name extends string, T> = Readonly<Record<Name, T>>;

/**
 * Measures every contestant once per round, in a new random order. The machine drifts by more than the differences
 * looked for, but little within a round, so only ratios within rounds are compared. `warmUps`: measurements of each before the first
 * round, which are dropped. `isEnough` may end it after any round.
 */
export async function runRounds<Name extends string, T>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name) => Promise<T>,
  warmUps = 0,
  isEnough: (results: readonly Round<Name, T>[]) => boolean = () => false,
): Promise<Round<Name, T>[]> {
  for (let index = 0; index < warmUps; index += 1) for (const name of names) await measure(name);
  const results: Round<Name, T>[] = [];
  for (let index = 0; index < rounds; index += 1) {
    const round: Partial<Record<Name, T>> = {};
    for (const name of shuffled(names)) round[name] = await measure(name);
    results.push(round as Round<Name, T>);
    if (isEnough(results)) break;
  }
  return results;
}

/** Fisher and Yates. */
function shuffled<T>(values: readonly T[]): T[] {
  const list = [...values];
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1));
    [list[index], list[other]] = [list[other] as T, list[index] as T];
  }
  return list;
}
