import { answerManners } from './clients/answers.ts';
import { browserManners } from './clients/browsers.ts';
import { modelManners } from './clients/models.ts';
import { requestManners } from './clients/requests.ts';
import type { Manner } from './manner.ts';

/** What clients of `/v1` meet. */
export const clientManners: readonly Manner[] = [
  ...modelManners,
  ...requestManners,
  ...answerManners,
  ...browserManners,
];
