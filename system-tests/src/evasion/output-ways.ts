import { hidesOutput, OUTPUT, type Way } from './way.ts';

/** Beside a small limit of its own, what another provider or parser would take for a larger one. */
const LARGER = [
  `"max_new_tokens":${OUTPUT}`,
  `"max_new_tokens":"${OUTPUT}"`,
  '"max_new_tokens":2e3',
  `"max_new_tokens":${OUTPUT - 0.5}`,
  `"n_predict":${OUTPUT}`,
  `"num_predict":" ${OUTPUT} "`,
  `"max_gen_len":${OUTPUT}`,
  `"max_tokens_to_sample":${OUTPUT}`,
  `"thinking_budget":${OUTPUT}`,
  `"Max_Tokens":${OUTPUT}`,
  `"MAX_OUTPUT_TOKENS":${OUTPUT}`,
  `"max_to\\u212aens":${OUTPUT}`,
];

const spellings: readonly Way[] = LARGER.flatMap((larger) => [
  hidesOutput('chat', `"max_tokens":1,${larger}`),
  hidesOutput('messages', `"max_tokens":1,${larger}`),
  hidesOutput('responses', `"max_output_tokens":16,${larger}`),
]);

const repeated: readonly Way[] = [
  hidesOutput('chat', `"max_tokens":${OUTPUT},"max_tokens":1`),
  hidesOutput('chat', `"max_tok\\u0065ns":${OUTPUT},"max_tokens":1`),
  hidesOutput('chat', `"max_completion_tokens":${OUTPUT},"max_completion_tokens":1`),
  hidesOutput('responses', `"max_output_tokens":${OUTPUT},"max_output_tokens":16`),
  hidesOutput('responses', `"max_output_tokens":16,"max_tokens":${OUTPUT}`),
  hidesOutput('responses', `"max_output_tokens":16,"max_completion_tokens":${OUTPUT}`),
  hidesOutput('messages', `"max_tokens":${OUTPUT},"max_tokens":1`),
  hidesOutput('messages', `"max_tokens":1,"max_completion_tokens":${OUTPUT}`),
  hidesOutput('messages', `"max_tokens":1,"max_output_tokens":${OUTPUT}`),
];

const EACH = OUTPUT / 8;
const choices: readonly Way[] = [
  hidesOutput('chat', `"max_tokens":${EACH},"n":8`),
  hidesOutput('chat', `"max_tokens":${EACH},"n":8,"n":1`),
  hidesOutput('chat', `"max_tokens":${EACH},"N":"8"`),
  hidesOutput('chat', `"max_tokens":${EACH},"best_of":8`),
  hidesOutput('chat', `"max_tokens":${EACH},"num_return_sequences":8`),
];

/** Of these Relay can only know what was typical. */
const unbounded: readonly Way[] = [
  hidesOutput('chat', '"max_output_tokens":1', { learned: 6 }),
  hidesOutput('responses', '"max_tokens":1', { learned: 6 }),
  hidesOutput('responses', '"max_completion_tokens":1', { learned: 6 }),
  hidesOutput('chat', '"stop":["x"]', {
    name: 'chat after a hundred small answers',
    learned: 6,
    trained: { times: 100, members: '"messages":[{"role":"user","content":"x"}],"sim":{"outputTokens":1}' },
  }),
  hidesOutput('chat', '"stop":["y"]', {
    name: 'chat after a hundred small limits',
    learned: 6,
    trained: { times: 100, members: '"messages":[{"role":"user","content":"x"}],"max_tokens":1' },
  }),
];

export const outputWays: readonly Way[] = [...spellings, ...repeated, ...choices, ...unbounded];
