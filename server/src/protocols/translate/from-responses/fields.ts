import { advisory, carried, essential, type FieldTable } from '../field-sorter.ts';
import type { ObjectsOf } from '../meanings.ts';

/** Every kind of object in a Responses request whose members are sorted. */
export type ResponsesFields = ObjectsOf<'responses'>;

/**
 * The kinds of tools. A hosted one runs at OpenAI, and an answer that should use it would be another one without it.
 *
 * `tool_search` loads tools that a request mentions but does not describe to the model. The tools that OpenAI would search are in the
 * request, and a translation offers all of them. Codex (0.166) runs the search itself and sends it only if tools of MCP servers or apps are
 * deferred; its instructions say "if `tool_search` is available", and its own tools are always there. So neither needs it.
 */
export const toolTypes = {
  function: carried,
  custom: carried,
  namespace: carried,
  tool_search: advisory,
  web_search: essential(),
  web_search_preview: essential(),
  file_search: essential(),
  code_interpreter: essential(),
  mcp: essential(),
  image_generation: essential(),
  computer_use_preview: essential(),
  local_shell: essential(),
  shell: essential(),
  apply_patch: essential(),
} satisfies FieldTable;
