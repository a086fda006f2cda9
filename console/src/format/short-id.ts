import { DEPLOYMENT_USER_ID } from '@relay/contract';
import { text } from '../text/index.ts';

/** Shown instead of an unknown name. The end of an ID is more distinctive than its start. */
export function shortId(id: string): string {
  if (id === DEPLOYMENT_USER_ID) return text.signIn.token;
  return `…${id.slice(-8)}`;
}
