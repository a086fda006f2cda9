import { type Finding, findLines, type Tree } from './tree.ts';

const PRODUCTION = /^server\/src\/(?!.*(\.test|(\.|\/)fixture)\.ts$).*\.ts$/;
/** The schema names the values that its columns hold. */
const HOMES = /^server\/src\/(protocols\/|store\/postgres\/(schema|ledger-tables)\.ts$)/;
const OPERATION =
  /(['"`])(chat|responses|embeddings|count_tokens)\1|['"`](\/v1)?\/(chat\/completions|messages)\b/;
const MEMBER =
  /\b(image_url|max_completion_tokens|max_output_tokens|stream_options|prompt_tokens|cache_read_input_tokens|anthropic-\w+)\b/;

/** Only protocols know wire protocols: elsewhere in the server neither an operation nor a member of its bodies is named. */
export function wireWords(tree: Tree): Finding[] {
  return tree.files
    .filter(({ path }) => PRODUCTION.test(path) && !HOMES.test(path))
    .flatMap((file) => [
      ...findLines(file, OPERATION, 'names an operation; ask the protocol (server/src/protocols) instead'),
      ...findLines(file, MEMBER, 'names a member of a wire protocol, which belongs in server/src/protocols'),
    ]);
}
