import { proseOf } from './prose.ts';
import { type Finding, isGenerated, type Tree, type TreeFile } from './tree.ts';

/** Words that hide the actor, or that are metaphors for a usual term. */
const banned: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/whoever/, 'name the actor'],
  [/somebody/, 'name the actor'],
  [/nobody/, 'name the actor'],
  [/anew/, 'write "again" or name what is replaced'],
  [/lately/, 'write "recently" or the period'],
  [/bites/, 'write "limits" or "applies"'],
  [/whole again/, 'write "resets" or "complete"'],
  [/by the books/, 'name the ledger, or leave it out'],
  [/under way/, 'write "running", "in flight" or "in progress"'],
  [/goes on/, 'write "continues"'],
  [/stands here/, 'write what is here'],
  [/is told/, 'say who gets or reads what'],
  [/at once/, 'write "immediately" or "concurrently"'],
  // Accepts "there is no" and comparisons.
  [
    /(?<!there )is no (?!longer|more|less|fewer|greater|larger|smaller|shorter|later|earlier|older|newer|better|worse)/,
    'write "is not a …"',
  ],
];

/** Texts for users, which this rule does not cover. Applied migrations cannot change. */
const NOT_YET = [/^docs\/guides\//, /^console\/src\/text\//, /\/migrations\/[^/]+\.sql$/];

export function bannedWords(tree: Tree): Finding[] {
  return tree.files
    .filter(({ path }) => !isGenerated(path) && !NOT_YET.some((pattern) => pattern.test(path)))
    .flatMap(wordsIn);
}

function wordsIn(file: TreeFile): Finding[] {
  // Where no banned word is, the syntax tree is not needed.
  if (!patterns.some(({ pattern }) => file.text.search(pattern) !== -1)) return [];
  const prose = proseOf(file);
  if (prose === null) return [];
  return patterns.flatMap(({ pattern, instead }) =>
    [...prose.matchAll(pattern)].map((match) => ({
      path: file.path,
      line: prose.slice(0, match.index).split('\n').length,
      message: `"${match[0].replace(/\s+/g, ' ').trim()}": ${instead}`,
    })),
  );
}

/** Whole words in any case; a phrase may break over one line end, with comment markers in between. */
const patterns = banned.map(([{ source }, instead]) => ({
  pattern: new RegExp(`\\b${source.replaceAll(' ', '[ \\t]*\\n?[ \\t/*#-]*(?<=[\\s/*#-])')}\\b`, 'gi'),
  instead,
}));
