import type { Client } from './client.ts';

export const cursor: Client = {
  name: 'cursor',
  title: 'Cursor',
  fixedKeyVariable: null,
  file: null,
  steps: ({ baseUrl, model, key }) =>
    `In Cursor, under Settings > Models > API Keys:

  OpenAI API Key            ${key}
  Override OpenAI Base URL  ${baseUrl}

Under Settings > Models, add the custom model ${model}.
Cursor calls the address from its own servers, so it has to be public and start with https.
`,
};
