import { shellWord } from '@relay/contract/client';
import type { Client } from './client.ts';

export const openaiSdk: Client = {
  name: 'openai-sdk',
  title: 'OpenAI SDK',
  fixedKeyVariable: 'OPENAI_API_KEY',
  file: null,
  steps({ baseUrl, model, key }) {
    const name = JSON.stringify(model);
    return `In the environment of your application; the SDK reads both variables:

  export OPENAI_BASE_URL=${shellWord(baseUrl)}
  export OPENAI_API_KEY=${shellWord(key)}

In Python:

  from openai import OpenAI

  answer = OpenAI().chat.completions.create(model=${name}, messages=[{"role": "user", "content": "Hello"}])

In JavaScript:

  import OpenAI from 'openai';

  const messages = [{ role: 'user', content: 'Hello' }];
  const answer = await new OpenAI().chat.completions.create({ model: ${name}, messages });
`;
  },
};
