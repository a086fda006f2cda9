import { type Variable, variables } from '@relay/server';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

/** Every environment variable of the server, from the table that parses them. */
export function environmentPage(): GeneratedFile[] {
  const rows = Object.entries<Variable<unknown, 'always' | 'maybe'>>(variables).map(([name, variable]) => {
    const { fallback, presence, description } = variable;
    const stated = fallback === null || fallback === '' ? '' : `\`${fallback}\``;
    return [`\`${name}\``, presence === 'always' && fallback === null ? 'required' : stated, description];
  });
  const body = `# Environment

Read once at start; every fault is named in one message. An empty value counts as not set. In self-hosted mode both
tokens are required.

${markdownTable(['Variable', 'Default', 'Meaning'], rows)}`;
  return [generatedPage('docs/reference/environment.md', body)];
}
