import { both, type RequestCase, refused } from './request-case.fixture.ts';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const PDF = 'data:application/pdf;base64,JVBERi0=';
const NOTE = 'data:text/plain;base64,w6Q=';
const user = { role: 'user', content: 'Hi' };

function input(...items: readonly unknown[]): { readonly input: readonly unknown[] } {
  return { input: items };
}

function content(...parts: readonly unknown[]): { readonly input: readonly unknown[] } {
  return input({ role: 'user', content: parts });
}

/** Parts of content. */
export const partCases: readonly RequestCase[] = [
  {
    name: 'text in parts',
    request: content({ type: 'input_text', text: 'One.' }, { type: 'input_text', text: 'Two.' }),
    ...both({
      says: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'One.' },
              { type: 'text', text: 'Two.' },
            ],
          },
        ],
      },
    }),
  },
  {
    name: 'text of nothing but space, which Messages reject',
    request: content({ type: 'input_text', text: ' \n' }, { type: 'input_text', text: 'Hi' }),
    chat: {
      says: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: ' \n' },
              { type: 'text', text: 'Hi' },
            ],
          },
        ],
      },
    },
    messages: { says: {} },
  },
  {
    name: 'a cache breakpoint, annotations and probabilities',
    request: input(
      {
        role: 'user',
        content: [{ type: 'input_text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }],
      },
      {
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Look.', annotations: [{ type: 'file_path' }], logprobs: [] }],
      },
      user,
    ),
    ...both({
      says: { messages: [user, { role: 'assistant', content: 'Look.' }, user] },
      leftOut: ['input[0].content[0].prompt_cache_breakpoint', 'input[1].content[0].annotations'],
    }),
  },
  {
    name: 'a refusal',
    request: input(user, { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }, user),
    chat: { says: { messages: [user, { role: 'assistant', content: null, refusal: 'No.' }, user] } },
    messages: { says: { messages: [user, { role: 'assistant', content: 'No.' }, user] } },
  },
  {
    name: 'an image with its detail',
    request: content({ type: 'input_image', image_url: PIXEL, detail: 'high' }),
    chat: {
      says: {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: PIXEL, detail: 'high' } }] },
        ],
      },
    },
    messages: {
      says: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            ],
          },
        ],
      },
      leftOut: ['input[0].content[0].detail'],
    },
  },
  {
    name: 'an image by URL',
    request: content({ type: 'input_image', image_url: 'https://a.example/b.png', detail: 'auto' }),
    chat: {
      says: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png', detail: 'auto' } }],
          },
        ],
      },
    },
    messages: {
      says: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }],
          },
        ],
      },
    },
  },
  {
    name: 'an image of a type that Messages do not take',
    request: content({ type: 'input_image', image_url: 'data:image/tiff;base64,AA==' }),
    chat: {
      says: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'data:image/tiff;base64,AA==' } }],
          },
        ],
      },
    },
    messages: { refused: 'input[0].content[0].image_url' },
  },
  {
    name: 'an image that lies at OpenAI',
    request: content({ type: 'input_image', file_id: 'file_1' }),
    ...refused('input[0].content[0].file_id'),
  },
  {
    name: 'a PDF',
    request: content({ type: 'input_file', filename: 'a.pdf', file_data: PDF }),
    chat: {
      says: {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: PDF } }] },
        ],
      },
    },
    messages: {
      says: {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
                title: 'a.pdf',
              },
            ],
          },
        ],
      },
    },
  },
  {
    name: 'a file of text with a detail',
    request: content({ type: 'input_file', file_data: NOTE, detail: 'low' }),
    chat: {
      says: {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { filename: 'document.txt', file_data: NOTE } }] },
        ],
      },
      leftOut: ['input[0].content[0].detail'],
    },
    messages: {
      says: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä' } }],
          },
        ],
      },
      leftOut: ['input[0].content[0].detail'],
    },
  },
  {
    name: 'a file by URL',
    request: content({ type: 'input_file', file_url: 'https://a.example/b.pdf' }),
    chat: { refused: 'input[0].content[0].file_url' },
    messages: {
      says: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } }],
          },
        ],
      },
    },
  },
  {
    name: 'a file that lies at OpenAI',
    request: content({ type: 'input_file', file_id: 'file_1' }),
    ...refused('input[0].content[0].file_id'),
  },
  {
    name: 'sound',
    request: content({ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }),
    chat: {
      says: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }],
          },
        ],
      },
    },
    messages: { refused: 'input[0].content[0].input_audio' },
  },
  {
    name: 'an unknown part',
    request: content({ type: 'input_video', url: 'x' }),
    ...refused('input[0].content[0].type'),
  },
];
