import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { processSurroundings } from './kit/surroundings.ts';
import { createProgram } from './program.ts';
import { announcedResources } from './resources/resource-list.ts';

const root = join(import.meta.dirname, '../..');
const SOURCES = ['cli/src/**/*.ts', 'contract/src/errors/*.ts'];
/** What a suggestion can have in place of a command's name, by the name of the variable. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  plural: Object.values(announcedResources).map(({ plural }) => plural),
  check: ['providers', 'endpoints'],
};

/** Commands that do something without their subcommands. */
const COMPLETE: readonly string[] = ['usage'];

/** Every `relay …` between backticks or after `Run:` that is not in a comment, with a value in place of each expression. */
function suggestionsIn(source: string): readonly string[] {
  const code = source.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  const quoted = [...code.matchAll(/`(relay [a-z$][^`\\]*)\\?`/g)];
  const plain = [...code.matchAll(/[Rr]un: (relay [a-z$][^`'\\\n]*)/g)];
  return [...quoted, ...plain].flatMap(([, written = '']) => {
    const [, variable] = /^relay \$\{(\w+)\}/.exec(written) ?? [];
    const names = variable === undefined ? undefined : NAMES[variable];
    const variants = names?.map((name) => written.replace(/\$\{\w+\}/, name)) ?? [written];
    return variants.map((text) => text.replaceAll(/\$\{[^}]*\}/g, 'VALUE'));
  });
}

/** Why the program would reject the command line; null when it would take it. */
function problemOf(program: Command, line: string): string | null {
  const words = line.split(/\s+/).slice(1);
  let command = program;
  let next = command.commands.find((each) => each.name() === words[0]);
  while (next !== undefined) {
    command = next;
    words.shift();
    next = command.commands.find((each) => each.name() === words[0]);
  }
  if (words[0] === '--help') return null;
  if (command === program) return `there is no command ${words[0]}`;
  const given = new Set<string>();
  const values: string[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith('-')) {
      values.push(word);
      continue;
    }
    const option = command.options.find(({ long, short }) => long === word || short === word);
    if (option === undefined) return `${command.name()} has no option ${word}`;
    given.add(option.attributeName());
    if (option.required && words.shift() === undefined) return `${word} has no value`;
  }
  return missing(command, given, values);
}

function missing(command: Command, given: ReadonlySet<string>, values: readonly string[]): string | null {
  const wanted = command.registeredArguments;
  if (command.commands.length > 0 && given.size === 0 && !COMPLETE.includes(command.name()))
    return `${command.name()} needs a subcommand`;
  const least = wanted.filter(({ required }) => required).length;
  const most = wanted.some(({ variadic }) => variadic) ? Number.POSITIVE_INFINITY : wanted.length;
  if (values.length < least || values.length > most) return `${command.name()} takes ${least} values`;
  const option = command.options.find((each) => each.mandatory && !given.has(each.attributeName()));
  return option === undefined ? null : `${command.name()} needs ${option.long}`;
}

describe('commands that errors, findings and help suggest', async () => {
  const program = await createProgram({ ...processSurroundings(), env: {} });

  it('are taken by the program as they are written', () => {
    const found = globSync(SOURCES, { cwd: root })
      .filter((path) => !path.endsWith('.test.ts'))
      .flatMap((path) =>
        suggestionsIn(readFileSync(join(root, path), 'utf8')).map((line) => ({ path, line })),
      );
    assert.ok(found.length > 60, `${found.length} suggestions`);
    const wrong = found.flatMap(({ path, line }) => {
      const problem = problemOf(program, line);
      return problem === null ? [] : [`${path}: ${line}: ${problem}`];
    });
    assert.deepEqual(wrong, []);
  });

  it('are found in strings and templates, and a wrong one is seen', () => {
    const source =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
      "fix: 'run `relay lanes liszt`', or: `\\`relay lanes get ${slug} --jason\\` or \\`relay ${check} get\\``; 'Run: relay chats'";
    assert.deepEqual(
      suggestionsIn(source).map((line) => problemOf(program, line)),
      [
        'lanes needs a subcommand',
        'get has no option --jason',
        'get takes 1 values',
        'get takes 1 values',
        'there is no command chats',
      ],
    );
    assert.equal(problemOf(program, 'relay stats'), 'there is no command stats');
    assert.equal(problemOf(program, 'relay keys create'), 'create needs --name');
  });
});
