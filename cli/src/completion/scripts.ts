import type { CommandWords, Word } from './command-words.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export function completionScript(shell: Shell, commands: readonly CommandWords[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return zshScript(commands);
    case 'fish':
      return fishScript(commands);
  }
}

/** Follows the typed words down the command tree and offers what fits there. */
function bashScript(commands: readonly CommandWords[]): string {
  return `# bash completion for relay; load it with: source <(relay completion bash)
_relay() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path=relay word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${pathPattern(commands)}) path="$path $word" ;;
    esac
  done
  case "$path $previous" in
${valueCases(commands, (words) => `words="${words.join(' ')}"`)}
  esac
  if [ -z "$words" ]; then
    case "$path" in
${commands
  .map(({ path, subcommands, options, argumentChoices }) => {
    const words = [...subcommands, ...options].map(({ word }) => word);
    return `      "${path}") words="${[...argumentChoices, ...words].join(' ')}" ;;`;
  })
  .join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _relay relay
`;
}

function zshScript(commands: readonly CommandWords[]): string {
  const described = (words: readonly Word[]) =>
    words.map(({ word, description }) => zshQuoted(`${word}:${oneLine(description)}`)).join(' ');
  return `#compdef relay
# zsh completion for relay; load it with: source <(relay completion zsh)
_relay() {
  local path_=relay word previous="\${words[CURRENT-1]}"
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$path_ $word" in
      ${pathPattern(commands)}) path_="$path_ $word" ;;
    esac
  done
  case "$path_ $previous" in
${valueCases(commands, (words) => `found=(${words.join(' ')})`)}
  esac
  if (( \${#found} )); then
    _describe value found
    return
  fi
  case "$path_" in
${commands
  .map(({ path, subcommands, options, argumentChoices }) => {
    const words = [...argumentChoices.map((word) => ({ word, description: '' })), ...subcommands, ...options];
    return `    "${path}") found=(${described(words)}) ;;`;
  })
  .join('\n')}
  esac
  _describe relay found || _files
}
if [ "$funcstack[1]" = _relay ]; then _relay "$@"; else compdef _relay relay; fi
`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, subcommands, options, argumentChoices, valuesByOption }) => {
    const at = `-n '__relay_at "${path}"'`;
    return [
      ...subcommands.map(
        ({ word, description }) => `complete -c relay -f ${at} -a ${word} -d ${fishQuoted(description)}`,
      ),
      ...argumentChoices.map((word) => `complete -c relay -f ${at} -a ${word}`),
      ...options
        .filter(({ word }) => word.startsWith('--'))
        .map(({ word, description }) => {
          const values = valuesByOption[word] ?? [];
          const choices = values.length === 0 ? '' : ` -x -a '${values.join(' ')}'`;
          return `complete -c relay ${at} -l ${word.slice(2)}${choices} -d ${fishQuoted(description)}`;
        }),
    ];
  });
  return `# fish completion for relay; load it with: relay completion fish | source
function __relay_at
  set -l path relay
  for word in (commandline -opc)[2..-1]
    switch "$path $word"
      case ${commands
        .slice(1)
        .map(({ path }) => `'${path}'`)
        .join(' ')}
        set path "$path $word"
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function pathPattern(commands: readonly CommandWords[]): string {
  return commands
    .slice(1)
    .map(({ path }) => `"${path}"`)
    .join('|');
}

function valueCases(commands: readonly CommandWords[], assign: (words: readonly string[]) => string): string {
  return commands
    .flatMap(({ path, valuesByOption }) =>
      Object.entries(valuesByOption)
        .filter(([, values]) => values.length > 0)
        .map(([flag, values]) => `    "${path} ${flag}") ${assign(values)} ;;`),
    )
    .join('\n');
}

function oneLine(text: string): string {
  return text.replaceAll(/[:\s]+/g, ' ').trim();
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', ' ')}'`;
}
