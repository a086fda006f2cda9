import ts from 'typescript';
import { type Finding, isGenerated, type Tree, type TreeFile } from './tree.ts';

const MEMBERS = /^(server|console|cli|contract)\//;
const FOR_TESTS = /(\.test\.tsx?|(\.|\/)fixture\.ts|\.d\.ts)$/;
const CASTS_MAX = 178;
/** Where no line looks like a cast, the syntax tree is not needed. */
const LIKE_A_CAST = /\bas (?!const\b)/;

/** What `npm run tidy` prints as its last line. README.md says how each is counted. */
export interface Figures {
  readonly files: number;
  readonly production_lines: number;
  readonly system_test_lines: number;
  readonly tool_lines: number;
  readonly casts: number;
}

export interface Measured {
  readonly figures: Figures;
  /** More casts than allowed, in the files that have most: the rule cannot know which cast is new. */
  readonly findings: readonly Finding[];
  readonly casts: readonly Finding[];
}

export function measure(tree: Tree, castsMax = CASTS_MAX): Measured {
  const code = tree.files.filter(({ path }) => /\.tsx?$/.test(path) && !isGenerated(path));
  const below = (folder: string) => code.filter(({ path }) => path.startsWith(folder));
  const production = code.filter(({ path }) => MEMBERS.test(path) && !FOR_TESTS.test(path));
  const castsByFile = production.map(castsOf).sort((a, b) => b.length - a.length);
  const casts = castsByFile.flat();
  const message = `${casts.length} casts in production code, at most ${castsMax} are allowed; check the value or narrow its type`;
  return {
    figures: {
      files: production.length,
      production_lines: linesOf(production),
      system_test_lines: linesOf(below('system-tests/')),
      tool_lines: linesOf(below('tools/')),
      casts: casts.length,
    },
    findings:
      casts.length <= castsMax
        ? []
        : castsByFile.slice(0, 5).flatMap(([first]) => (first === undefined ? [] : { ...first, message })),
    casts,
  };
}

function linesOf(files: readonly TreeFile[]): number {
  return files.reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0);
}

/** Every `as` expression other than `as const`, in the order of its end. */
function castsOf({ path, text }: TreeFile): Finding[] {
  const casts: Finding[] = [];
  if (!LIKE_A_CAST.test(text)) return casts;
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false, kind);
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && node.type.getText(source) !== 'const') {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      casts.push({ path, line, message: 'is a cast' });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return casts;
}
