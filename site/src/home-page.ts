/** The front page: what the README opens with, then the map of the documentation. */
export function homePage(readme: string, map: string): string {
  const [name = '', text = ''] = (/^# (.*)$/m.exec(readme)?.[1] ?? '').split(': ');
  const paragraph = readme.split('\n\n').find((each) => /^[A-Z]/.test(each)) ?? '';
  const features = [...readme.matchAll(/^- \*\*(.+?)\.?\*\*\s*(.*)$/gm)].slice(0, 4);
  const front = {
    layout: 'home',
    title: name,
    titleTemplate: text,
    hero: {
      name,
      text: `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`,
      tagline: `${plain(paragraph.split('. ').slice(0, 2).join('. '))}.`,
      actions: [
        { theme: 'brand', text: 'Quickstart', link: '/start/one-minute' },
        { theme: 'alt', text: 'Self-host', link: '/start/self-host' },
        { theme: 'alt', text: 'API reference', link: '/reference/api/' },
      ],
    },
    features: features.map(([, title = '', details = '']) => ({ title, details: plain(details) })),
  };
  const picture = /^!\[.*\)$/m.exec(readme)?.[0] ?? '';
  // JSON is YAML.
  return `---\n${JSON.stringify(front)}\n---\n\n${picture}\n\n${map.replace(/^# .*\n+/m, '')}`;
}

/** Front matter is shown as it is. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s*\([^()]*\)\.$/g, '.')
    .trim();
}
