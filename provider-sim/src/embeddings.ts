import { type Ask, type AskContext, usageFor } from './ask.ts';
import { randomFrom, seedOf, tokensOfText } from './content.ts';
import { parseFault } from './fault.ts';
import { firstNumber } from './read-prompt.ts';
import { embeddingsFields } from './validate-embeddings.ts';
import { unknownFieldsOf } from './validate-fields.ts';

type EmbeddingInput = string | number[];

export function readEmbeddings(body: Record<string, unknown>, context: AskContext): Ask {
  const inputs = inputsOf(body['input']);
  const dimensions = firstNumber(body['dimensions']) ?? context.dimensions;
  const counted = inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  const asBase64 = body['encoding_format'] === 'base64';
  return {
    operation: 'embeddings',
    model: String(body['model']),
    stream: false,
    fault: body['sim'] === undefined ? null : parseFault(body['sim']),
    unknownFields: unknownFieldsOf(body, embeddingsFields),
    answer(fault) {
      const promptTokens = fault.promptTokens ?? counted;
      const reported = usageFor(fault, promptTokens, 0);
      return {
        promptTokens,
        completionTokens: 0,
        reported,
        body() {
          const data = inputs.map((input, index) => {
            const vector = vectorOf(input, dimensions, context.seed);
            const embedding = asBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
            return { object: 'embedding', index, embedding };
          });
          const tokens = reported?.promptTokens ?? 0;
          const usage =
            reported === null ? '' : `,"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}`;
          const twice = fault.usageTwice === true ? usage : '';
          const model = JSON.stringify(body['model']);
          return `{"object":"list","data":${JSON.stringify(data)},"model":${model}${usage}${twice}}\n`;
        },
        frames: () => [],
        errorFrame: () => '',
      };
    },
  };
}

function inputsOf(input: unknown): EmbeddingInput[] {
  if (typeof input === 'string') return [input];
  const list = input as unknown[];
  return typeof list[0] === 'number' ? [list as number[]] : (list as EmbeddingInput[]);
}

function tokensOf(input: EmbeddingInput): number {
  return typeof input === 'string' ? Math.max(1, tokensOfText(input)) : input.length;
}

/** A unit vector that depends on the input alone. */
function vectorOf(input: EmbeddingInput, dimensions: number, seed: number): Float32Array<ArrayBuffer> {
  const random = randomFrom(seedOf(typeof input === 'string' ? input : input.join(','), seed));
  const vector = new Float32Array(dimensions);
  let squares = 0;
  for (let index = 0; index < dimensions; index += 1) {
    const value = random() * 2 - 1;
    vector[index] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares) || 1;
  for (let index = 0; index < dimensions; index += 1) vector[index] = (vector[index] ?? 0) / length;
  return vector;
}
