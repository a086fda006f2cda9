/** The part of a call that signing in needs; any management call fits. */
export interface BrowserCall {
  readonly requestId: string;
  readonly remoteAddress: string;
  readonly header: (name: string) => string | undefined;
  readonly setHeader: (name: string, value: string) => void;
}

/** Who has proven to be whom, and how. */
export interface Proven {
  readonly userId: string;
  readonly organizationId: string;
  readonly method: 'password' | 'second_factor' | 'single_sign_on' | 'sign_up' | 'invitation' | 'admin_token';
}
