import { type Variable, type VariablePresence, variables } from '@relay/server';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

/** Every environment variable of the server, from the table that parses them. */
export function environmentPage(): GeneratedFile[] {
  const rows = Object.entries<Variable<unknown, VariablePresence>>(variables).map(([name, variable]) => {
    const { fallback, presence, description } = variable;
    const stated = fallback === null || fallback === '' ? '' : `\`${fallback}\``;
    const isRequired = presence === 'always' && fallback === null;
    const needed = presence === 'servers' ? 'required by `relay serve`' : isRequired ? 'required' : stated;
    return [`\`${name}\``, needed, description];
  });
  const body = `# Environment

Relay reads these variables once at start and reports all invalid settings together. An empty value counts as not set. In self-hosted mode,
\`relay serve\` requires both tokens. \`relay start\` generates the tokens, the master key and the auth secret on its first start and
keeps them in its data directory; a variable that you set overrides the stored value.

${markdownTable(['Variable', 'Default', 'Meaning'], rows)}`;
  return [generatedPage('docs/reference/environment.md', body)];
}
