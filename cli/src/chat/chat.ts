import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { Command, type OptionValues } from 'commander';
import { type Api, connect } from '../api/client.ts';
import { laneName } from '../api/lane-name.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { canAsk } from '../kit/prompt.ts';
import { readStdin } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollars, milliseconds, numberText } from '../output/cells.ts';
import { formatOf, withOutput } from '../output/options.ts';
import { printObject } from '../output/print.ts';
import { writeError } from '../output/write-error.ts';
import { withConnection } from '../session/connection.ts';
import { type Answer, askModel, type Message, type Question } from './ask-model.ts';

export function chatCommand(surroundings: Surroundings): Command {
  const command = new Command('chat')
    .description('Chat with a lane: one message, piped input, or a conversation on a terminal')
    .argument('[lane]', 'lane or model (default: the only lane)')
    .argument('[message...]', 'message (default: standard input, or a conversation on a terminal)')
    .option('--system <text>', 'system prompt')
    .option('--max-tokens <number>', 'max tokens for the response', tokensOf)
    .option('--no-stream', 'disable streaming');
  return withOutput(withConnection(command)).action(
    (lane: string | undefined, words: string[], options: OptionValues) =>
      chat(surroundings, lane, words, options),
  );
}

async function chat(
  surroundings: Surroundings,
  typed: string | undefined,
  words: string[],
  options: OptionValues,
): Promise<void> {
  const api = await connect(surroundings, options);
  const lane = await laneName(api, typed);
  const ask = (messages: readonly Message[]): Question => ({
    model: lane,
    messages,
    stream: options['stream'] !== false,
    maxTokens: options['maxTokens'],
  });
  const first: Message[] =
    options['system'] === undefined ? [] : [{ role: 'system', content: options['system'] }];
  const isConversation = words.length === 0 && canAsk(surroundings);
  if (isConversation) return converse(surroundings, api, ask, first);
  const text = words.length > 0 ? words.join(' ') : (await readStdin(surroundings)).trim();
  if (text === '') throw usageError('The message is empty.', 'Add a message, or pipe one in.');
  const question = ask([...first, { role: 'user', content: text }]);
  await answerOnce(surroundings, api, question, options);
}

async function answerOnce(
  surroundings: Surroundings,
  api: Api,
  question: Question,
  options: OptionValues,
): Promise<void> {
  // Prints plain text also to a pipe; other formats are for data on request.
  const isText = options['output'] === undefined || formatOf(surroundings, options) === 'table';
  const stopping = new AbortController();
  const forget = surroundings.onInterrupt(() => stopping.abort());
  try {
    const answer = await askModel(
      api,
      question,
      isText ? writer(surroundings) : () => undefined,
      stopping.signal,
    );
    if (isText) return finishAnswer(surroundings, answer);
    await printObject(surroundings, options, {
      text: answer.text,
      finish_reason: answer.finishReason,
      input_tokens: answer.usage?.prompt_tokens ?? null,
      output_tokens: answer.usage?.completion_tokens ?? null,
      endpoint: answer.headers.get('x-relay-selected-endpoint'),
      upstream_model: answer.headers.get('x-relay-selected-upstream-model'),
      request_id: answer.headers.get('x-request-id'),
    });
  } catch (error) {
    if (stopping.signal.aborted) throw new ProgramError('Stopped.');
    throw error;
  } finally {
    forget();
  }
}

/** Ctrl-C stops a response, or ends the chat when there is none; Ctrl-D and /exit end it too. */
async function converse(
  surroundings: Surroundings,
  api: Api,
  ask: (messages: readonly Message[]) => Question,
  first: readonly Message[],
): Promise<void> {
  const { stdin, stderr } = surroundings;
  stderr.write(dim(surroundings, 'Enter a message. /clear resets, /exit or Ctrl+D quits.'));
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  let answering: AbortController | null = null;
  lines.on('SIGINT', () => (answering === null ? lines.close() : answering.abort()));
  const closed = new AbortController();
  lines.once('close', () => closed.abort());
  let messages = [...first];
  while (!closed.signal.aborted) {
    const text = await lines.question('> ', { signal: closed.signal }).catch(() => '/exit');
    if (text.trim() === '/exit') break;
    if (text.trim() === '/clear') messages = [...first];
    if (text.trim() === '' || text.trim() === '/clear') continue;
    answering = new AbortController();
    try {
      const question = ask([...messages, { role: 'user', content: text }]);
      const answer = await askModel(api, question, writer(surroundings), answering.signal);
      finishAnswer(surroundings, answer);
      messages = [...messages, { role: 'user', content: text }, { role: 'assistant', content: answer.text }];
    } catch (error) {
      if (!answering.signal.aborted) writeError(surroundings, error);
      else stderr.write(`\n${dim(surroundings, 'Stopped.')}`);
      if (error instanceof ProgramError && error.exitCode === exitCodes.auth) throw error;
    }
    answering = null;
  }
  lines.close();
}

/** Removes control characters on a terminal, so that a model cannot move the cursor; files keep them. */
function writer({ stdout }: Surroundings): (text: string) => void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to take out.
  const harmless = (text: string) => text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
  return (text) => void stdout.write(stdout.isTTY ? harmless(text) : text);
}

function finishAnswer(surroundings: Surroundings, answer: Answer): void {
  const { stdout, stderr } = surroundings;
  if (!answer.text.endsWith('\n')) stdout.write('\n');
  if (!stderr.isTTY) return;
  const header = (name: string) => answer.headers.get(name);
  const cost = header('x-relay-actual-cost-micros');
  const parts = [
    header('x-relay-selected-endpoint'),
    answer.usage === null
      ? null
      : `${numberText(answer.usage.prompt_tokens)} input · ${numberText(answer.usage.completion_tokens)} output tokens`,
    cost === null ? null : dollars(Number(cost)),
    `waited ${milliseconds(Number(header('x-relay-wait-ms') ?? 0))}`,
    header('x-request-id'),
  ];
  stderr.write(dim(surroundings, parts.filter((part) => part !== null).join(' · ')));
}

function dim({ stderr }: Surroundings, text: string): string {
  return `${styleText('dim', text, { stream: stderr })}\n`;
}

function tokensOf(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw usageError(`"${text}" is not a valid number of tokens. Use a whole number, 1 or more.`);
}
