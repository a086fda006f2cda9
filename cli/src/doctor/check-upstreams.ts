import { healthSentence, type SeenHealth } from '@relay/contract/words';
import { type Finding, fail, note, warn } from './finding.ts';

/** A provider or an endpoint, as far as its health is looked at. */
export interface Upstream extends SeenHealth {
  readonly name: string;
  readonly slug: string;
}

/** What recent requests met. What nothing was sent to is noted: it is neither well nor broken. */
export function healthFindings(
  check: 'providers' | 'endpoints',
  all: readonly Upstream[],
  nowMs: number,
): Finding[] {
  const findings: Finding[] = [];
  for (const each of all) {
    const { health, name, slug } = each;
    const fix = `Run: \`relay ${check} test ${slug}\``;
    const sentence = healthSentence(each, nowMs);
    const message = `${name}: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
    if (health === 'down') findings.push(fail(check, message, fix));
    if (health === 'degraded' || health === 'rate_limited') findings.push(warn(check, message, fix));
  }
  const unknown = all.filter(({ health }) => health === 'unknown');
  const [first] = unknown;
  if (first !== undefined) {
    const message =
      unknown.length === 1
        ? `${first.name}: health unknown, no recent requests.`
        : `${unknown.length} of ${all.length} ${check}: health unknown, no recent requests.`;
    findings.push(note(check, message, `Run: \`relay ${check} test ${first.slug}\``));
  }
  return findings;
}
