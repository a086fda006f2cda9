import type { Random } from '../chaos/random.ts';
import { answersTarget, bodiesTarget } from './inference-targets.ts';
import { cursorsTarget, routesTarget } from './routes-target.ts';
import { contextsTarget, keysTarget } from './secrets-targets.ts';
import type { Target } from './target.ts';
import { wireTarget } from './wire-target.ts';

const targets: readonly Target[] = [
  routesTarget,
  bodiesTarget,
  answersTarget,
  keysTarget,
  cursorsTarget,
  contextsTarget,
  wireTarget,
];

export const targetNames: readonly string[] = targets.map(({ name }) => name);

export function targetOf(random: Random, only: string | undefined): Target {
  const named = targets.find(({ name }) => name === only);
  if (named !== undefined) return named;
  let left = random.next() * targets.reduce((sum, { weight }) => sum + weight, 0);
  for (const target of targets) {
    left -= target.weight;
    if (left < 0) return target;
  }
  return routesTarget;
}
