import { proseOf, shownTexts, withPlaceholders } from './prose.ts';
import { type Finding, isGenerated, type Tree, type TreeFile } from './tree.ts';

type Ban = readonly [pattern: RegExp, instead: string];

/** Words that hide the actor, or that are metaphors for a usual term. */
const everywhere: readonly Ban[] = [
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

/** Words that texts for users avoid besides. */
const forUsers: readonly Ban[] = [
  [/please/, 'leave it out'],
  [/simply/, 'leave it out'],
  [/we/, 'name the actor: you, Relay, the provider'],
];

/** Applied migrations cannot change. */
const FIXED = /\/migrations\/[^/]+\.sql$/;
/** Code whose strings people may see. */
const SHOWN = /^(console|contract|cli|server)\/src\/(?!.*(\.test|(\.|\/)fixture)\.tsx?$).*\.tsx?$/;
/** A list of words to compare with, not a text. */
const WORD_LIST = 'server/src/domain/request-echo.ts';
/** Documents for users; decision records and READMEs of modules are for contributors. */
const FOR_USERS = /^(docs\/(?!adr\/).*|[A-Z]+)\.md$/;

export function bannedWords(tree: Tree): Finding[] {
  return tree.files
    .filter(({ path }) => !isGenerated(path) && !FIXED.test(path))
    .flatMap((file) => [...wordsInProse(file), ...wordsInTexts(file)]);
}

function wordsInProse(file: TreeFile): Finding[] {
  const bans = FOR_USERS.test(file.path) ? anyText : prose;
  return findIn(file, bans, proseOf);
}

function wordsInTexts(file: TreeFile): Finding[] {
  return SHOWN.test(file.path) && file.path !== WORD_LIST ? findIn(file, anyText, shownTexts) : [];
}

function findIn(
  file: TreeFile,
  bans: readonly Compiled[],
  read: (file: TreeFile) => string | null,
): Finding[] {
  // Where no banned word is, the syntax tree is not needed.
  const all = withPlaceholders(file.text);
  if (!bans.some(({ pattern }) => all.search(pattern) !== -1)) return [];
  const text = read(file);
  if (text === null) return [];
  return bans.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map((match) => ({
      path: file.path,
      line: text.slice(0, match.index).split('\n').length,
      message: `"${match[0].replace(/\s+/g, ' ').trim()}": ${instead}`,
    })),
  );
}

interface Compiled {
  readonly pattern: RegExp;
  readonly instead: string;
}

const prose = everywhere.map(compiled);
const anyText = [...everywhere, ...forUsers].map(compiled);

/** Whole words in any case; a phrase may break over one line end, with comment markers in between. */
function compiled([{ source }, instead]: Ban): Compiled {
  const phrase = source.replaceAll(' ', '[ \\t]*\\n?[ \\t/*#-]*(?<=[\\s/*#-])');
  return { pattern: new RegExp(`\\b${phrase}\\b`, 'gi'), instead };
}
