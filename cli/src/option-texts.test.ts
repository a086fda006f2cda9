import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Command } from 'commander';
import { processSurroundings } from './kit/surroundings.ts';
import { createProgram } from './program.ts';

/** What a text may begin with in capitals. */
const PROPER = /^(?:[A-Z]{2,}|LiteLLM|HTTP)/;

function textsOf(command: Command, parent: string): [string, string][] {
  const path = `${parent} ${command.name()}`;
  const help = command.createHelp();
  return [
    ...command.registeredArguments.map((each): [string, string] => [
      `${path} <${each.name()}>`,
      help.argumentDescription(each),
    ]),
    ...help
      .visibleOptions(command)
      .map((option): [string, string] => [`${path} ${option.flags}`, help.optionDescription(option)]),
    ...command.commands.flatMap((child) => textsOf(child, path)),
  ];
}

const program = await createProgram({ ...processSurroundings(), env: {} });
const texts = textsOf(program, '');

it('every option and argument has a text, as a lowercase noun phrase', () => {
  const wrong = texts.filter(([, text]) => !/^(?:[a-z$]|-)/.test(text) && !PROPER.test(text));
  assert.deepEqual(wrong, []);
});

it('an update promises no default for a field that is not given', () => {
  const shared = /--(?:output|context|server)\b/;
  const wrong = texts.filter(
    ([name, text]) => / update /.test(name) && !shared.test(name) && text.includes('default:'),
  );
  assert.deepEqual(wrong, []);
});
