import { allRoutes, allScopes, expandScopes, scopes, scopesOf } from '@relay/contract';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

export function scopesPage(): GeneratedFile[] {
  const rows = allScopes.map((scope) => {
    const implied = expandScopes([scope]).filter((other) => other !== scope);
    const opened = allRoutes.filter((route) => scopesOf(route.access).includes(scope)).length;
    return [`\`${scope}\``, scopes[scope], implied.map((other) => `\`${other}\``).join(', '), String(opened)];
  });
  const body = `# Scopes

A key’s scopes are set when it is created. A key can do only what its scopes and its owner’s current permissions
both allow. [routes.md](routes.md) lists what each route requires.

${markdownTable(['Scope', 'Allows', 'Implies', 'Routes'], rows)}`;
  return [generatedPage('docs/reference/scopes.md', body)];
}
