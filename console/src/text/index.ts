import { endpointsText } from './endpoints.ts';
import { keysText } from './keys.ts';
import { lanesText } from './lanes.ts';
import { playgroundText } from './playground.ts';
import { providersText } from './providers.ts';
import { shellText } from './shell.ts';

/** Every word that the console shows, by page. Pages hold no words of their own. */
export const text = {
  ...shellText,
  providers: providersText,
  endpoints: endpointsText,
  lanes: lanesText,
  playground: playgroundText,
  keys: keysText,
} as const;
