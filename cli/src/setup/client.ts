import { shellWord } from '@relay/contract/client';
import type { Surroundings } from '../kit/surroundings.ts';

export interface Wish {
  /** The gateway's address, as Anthropic's clients want it. */
  readonly server: string;
  /** The inference base URL, which ends in /v1. */
  readonly baseUrl: string;
  readonly model: string;
  /** The environment variable of the key. */
  readonly keyVariable: string;
  /** The key, or a placeholder where it is not shown. */
  readonly key: string;
}

/** The settings file of a client. */
export interface SettingsFile {
  path(surroundings: Surroundings): string;
  /** The edited file; `before` is null without a file. Throws if it cannot be parsed. */
  edit(before: string | null, wish: Wish): string | Promise<string>;
  /** Only for a file that contains the key itself: the key it has for this gateway. Other files name a variable. */
  keyIn?(before: string | null, server: string): string | null;
}

/** A client that accepts the address of an OpenAI or Anthropic API. */
export interface Client {
  readonly name: string;
  readonly title: string;
  /** The client's fixed variable for the key; null if the file names one. */
  readonly fixedKeyVariable: string | null;
  /** Null if Relay cannot write the client's settings. */
  readonly file: SettingsFile | null;
  /** The manual steps: those that remain, or all of them without a file. */
  steps(wish: Wish): string;
}

/** The step for clients that read the key from the environment. */
export function exportKey(title: string, { keyVariable, key }: Wish): string {
  return `In the shell that starts ${title}:\n\n  export ${keyVariable}=${shellWord(key)}\n`;
}
