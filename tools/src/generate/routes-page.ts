import { type Access, allRoutes, type Route } from '@relay/contract';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

export function routesPage(): GeneratedFile[] {
  const tags = [...new Set(allRoutes.map((route) => route.tag))];
  const sections = tags.map((tag) =>
    section(
      tag,
      allRoutes.filter((route) => route.tag === tag),
    ),
  );
  const body = `# Routes

All API routes. Request bodies, responses and errors are in the [API reference](api/README.md) and in \`contract/openapi.json\`.

${sections.join('\n\n')}`;
  return [generatedPage('docs/reference/routes.md', body)];
}

function section(tag: string, routes: readonly Route[]): string {
  const rows = routes.map((route) => [
    route.method,
    `\`${route.path}\``,
    accessText(route.access),
    [route.success.status, ...(route.success.otherStatuses ?? [])].join(' or '),
    route.summary,
  ]);
  return `## ${tag}\n\n${markdownTable(['Method', 'Path', 'Access', 'Status', 'Summary'], rows)}`;
}

function accessText(access: Access): string {
  if (access === 'any_key') return 'any valid key';
  if (access === 'session_only') return 'browser session';
  if (access === 'public') return 'public';
  if ('scope' in access) return `\`${access.scope}\``;
  const any = 'scopes' in access;
  const names = (any ? access.scopes : access.everyScope).map((scope) => `\`${scope}\``);
  return names.join(any ? ' or ' : ' and ');
}
