import { type Finding, isGenerated, type Tree } from './tree.ts';

const SOURCE = /\.(ts|tsx|js|cjs|mjs|lua)$/;
/** A list, union or table of the words: nothing but quotes, brackets and separators lies between one and the next. */
const BETWEEN = /^['"`\s,|[\]]+$/;

/** Files that spell the list by hand, each with the reason. */
const spelledOut: Readonly<Record<string, string>> = {
  'contract/src/resources/values.ts': 'the one list',
  'server/src/domain/limits/metric.ts': 'the quantities that a metric can add up',
};

/**
 * The metrics of a limit are listed once, in the contract. A copy elsewhere would silently miss a new metric; a
 * `Record<LimitMetric, …>` is not a copy, because it does not compile without one.
 */
export function limitMetrics(
  tree: Tree,
  metrics: readonly string[],
  allowed: Readonly<Record<string, string>> = spelledOut,
): Finding[] {
  const word = new RegExp(`(?<=['"\`])(?:${metrics.join('|')})(?=['"\`])`, 'g');
  const findings: Finding[] = [];
  for (const { path, text } of tree.files) {
    if (!SOURCE.test(path) || isGenerated(path)) continue;
    const line = lineOfList(text, [...text.matchAll(word)], metrics.length - 1);
    if (line !== null && allowed[path] === undefined)
      findings.push({
        path,
        line,
        message: 'lists the metrics of limits; use `limitMetrics` of the contract',
      });
    if (line === null && allowed[path] !== undefined)
      findings.push({
        path,
        line,
        message: 'does not list the metrics of limits; take it off the exceptions',
      });
  }
  return findings;
}

/** The line at which at least `size` different words follow one another; null when none do. */
function lineOfList(text: string, words: readonly RegExpExecArray[], size: number): number | null {
  let run = new Set<string>();
  let endOfLast = -1;
  for (const { 0: word, index } of words) {
    const joins = endOfLast >= 0 && BETWEEN.test(text.slice(endOfLast, index));
    run = joins ? run.add(word) : new Set([word]);
    if (run.size >= size) return text.slice(0, index).split('\n').length;
    endOfLast = index + word.length;
  }
  return null;
}
