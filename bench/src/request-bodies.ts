const SMALL_BYTES = 1_024;
const BIG_BYTES = 256 * 1_024;

/** A chat request of one kilobyte. */
export function smallBody(model: string): Buffer {
  return chatBody(model, SMALL_BYTES, false);
}

export function streamBody(model: string): Buffer {
  return chatBody(model, SMALL_BYTES, true);
}

/** A long conversation, as an agent sends it: turns of prose and code, with tools. */
export function bigBody(model: string): Buffer {
  const turns: unknown[] = [{ role: 'system', content: 'You are a careful engineer.' }];
  const tools = ['read_file', 'write_file', 'run_tests'].map((name) => ({
    type: 'function',
    function: {
      name,
      description: `${name} in the workspace — answers what happened.`,
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  }));
  const bodyOf = () => Buffer.from(JSON.stringify({ model, temperature: 0.2, tools, messages: turns }));
  let bytes = bodyOf().length;
  for (let index = 0; ; index += 1) {
    const turn = turnAt(index);
    bytes += Buffer.byteLength(JSON.stringify(turn)) + 1;
    if (bytes > BIG_BYTES) return bodyOf();
    turns.push(turn);
  }
}

function turnAt(index: number): unknown {
  const code = `function step${index}(input) {\n\treturn input.map((each) => each["value"] ?? ${index});\n}\n`;
  const prose = `Step ${index}: it’s the wait budget — not the limit — that decides. Keep the "model" value as it is. `;
  return { role: index % 2 === 0 ? 'user' : 'assistant', content: (prose + code).repeat(4) };
}

function chatBody(model: string, bytes: number, streaming: boolean): Buffer {
  const bodyWith = (content: string) =>
    Buffer.from(
      JSON.stringify({
        model,
        ...(streaming ? { stream: true } : {}),
        temperature: 0.7,
        max_tokens: 256,
        messages: [
          { role: 'system', content: 'You are a helpful assistant.' },
          { role: 'user', content },
        ],
      }),
    );
  const words = 'Explain how a lane picks its candidate when limits are tight. '.repeat(20);
  return bodyWith(words.slice(0, bytes - bodyWith('').length));
}
