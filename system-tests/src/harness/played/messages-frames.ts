import { eventFrame, PLAYED_USAGE, type PlayedTurn, piecesOf, signatureOf } from './played-turn.ts';

/** The turn as Anthropic's Messages stream it. Content begins after the second frame. */
export function messagesFrames(turn: PlayedTurn, model: string): string[] {
  const { input, cacheRead, cacheWritten, output } = PLAYED_USAGE;
  const usage = {
    input_tokens: input - cacheRead - cacheWritten,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWritten,
    cache_creation: { ephemeral_5m_input_tokens: cacheWritten, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
  };
  const message = {
    id: `msg_${turn.number}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const stop_reason = turn.calls.length > 0 ? 'tool_use' : 'end_turn';
  return [
    eventFrame(frame('message_start', { message })),
    eventFrame(frame('ping', {})),
    ...blocksOf(turn).flatMap(([block, deltas], index) => [
      eventFrame(frame('content_block_start', { index, content_block: block })),
      ...deltas.map((delta) => eventFrame(frame('content_block_delta', { index, delta }))),
      eventFrame(frame('content_block_stop', { index })),
    ]),
    eventFrame(
      frame('message_delta', {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: output },
      }),
    ),
    eventFrame(frame('message_stop', {})),
  ];
}

function blocksOf({ number, thought, text, calls }: PlayedTurn): [block: object, deltas: object[]][] {
  const blocks: [object, object[]][] = [];
  if (thought !== null)
    blocks.push([
      { type: 'thinking', thinking: '', signature: '' },
      [
        ...piecesOf(thought).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        { type: 'signature_delta', signature: signatureOf(number) },
      ],
    ]);
  if (text !== null)
    blocks.push([
      { type: 'text', text: '' },
      piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
    ]);
  for (const { id, name, input } of calls)
    blocks.push([
      { type: 'tool_use', id: `toolu_${id}`, name, input: {} },
      piecesOf(JSON.stringify(input), 7).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    ]);
  return blocks;
}

function frame(type: string, rest: object): { type: string } {
  return { type, ...rest };
}
