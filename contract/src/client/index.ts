// What every client of Relay needs besides types: the console, the CLI and others. No dependencies; runs in a browser.
export { type CsvValue, csvRecord } from './csv.ts';
export {
  claudeCodeVariables,
  codexSettings,
  type KeySnippet,
  keySnippets,
  shellWord,
} from './key-snippets.ts';
export { type ErrorIssue, type ErrorResponse, issuesIn, readError } from './read-error.ts';
export { readEventBatches, readEvents, type ServerEvent } from './read-events.ts';
