import type { Deployment } from '../harness/deployment.ts';

const QUESTIONS = [
  'Summarise the last three tickets of this customer in two sentences.',
  'Translate the release notes into Portuguese.',
  'Which of these invoices are overdue?',
  'Write a haiku about queues.',
];

export interface TrafficSetup {
  readonly requests: number;
  /** Models or lanes to ask, in turn. */
  readonly models: readonly string[];
  /** Instead of the API token. */
  readonly key?: string;
}

/** Real requests to the API, some of them streams, some that fail at the provider. */
export async function seedTraffic(site: Deployment, setup: TrafficSetup): Promise<void> {
  const send = async (index: number) => {
    const fails = index % 17 === 16;
    const response = await fetch(`${site.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${setup.key ?? site.apiToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: setup.models[index % setup.models.length],
        messages: [{ role: 'user', content: QUESTIONS[index % QUESTIONS.length] }],
        stream: index % 3 === 0,
        max_tokens: 20 + ((index * 7) % 60),
        ...(fails ? { sim: { status: 400 } } : {}),
      }),
    });
    await response.arrayBuffer();
  };
  const indexes = Array.from({ length: setup.requests }, (_, index) => index);
  // A few at a time, as clients do.
  for (let from = 0; from < indexes.length; from += 8)
    await Promise.all(indexes.slice(from, from + 8).map((index) => send(index)));
}
