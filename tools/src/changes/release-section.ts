import { UsageError } from '@relay/testbed';

const KINDS = ['added', 'changed', 'fixed', 'removed', 'security'] as const;
type Kind = (typeof KINDS)[number];

export interface Change {
  readonly kind: Kind;
  readonly text: string;
}

/** One file of changes/. The name says the kind; the text is what users read, with links as from its folder. */
export function changeOf(name: string, text: string): Change {
  const kind = KINDS.find((each) => name.startsWith(`${each}-`) && name.endsWith('.md'));
  if (kind === undefined) throw new UsageError(`changes/${name} must be named ${KINDS.join('|')}-<what>.md`);
  if (text.trim() === '' || /^[-#*]/m.test(text))
    throw new UsageError(`changes/${name} must hold sentences, without headings or lists`);
  return {
    kind,
    text: text
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
      .replaceAll('](../', ']('),
  };
}

/** The changelog with the section of a release above those of earlier ones. */
export function withRelease(
  changelog: string,
  version: string,
  day: string,
  changes: readonly Change[],
): string {
  if (changes.length === 0) throw new UsageError('changes/ is empty: there is nothing to release');
  if (changelog.includes(`\n## [${version}]`)) throw new UsageError(`CHANGELOG.md has ${version} already`);
  const first = changelog.indexOf('\n## [');
  if (first === -1) throw new UsageError('CHANGELOG.md has no section of a release');
  const section = KINDS.flatMap((kind) => {
    const items = changes.filter((change) => change.kind === kind).map(({ text }) => `- ${text}\n`);
    return items.length === 0 ? [] : [`\n### ${kind[0]?.toUpperCase()}${kind.slice(1)}\n\n${items.join('')}`];
  });
  return `${changelog.slice(0, first)}\n## [${version}] - ${day}\n${section.join('')}${changelog.slice(first)}`;
}
