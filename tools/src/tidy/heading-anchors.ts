/** The anchors of a document's headings, as GitHub and the site make them. */
export function headingAnchors(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  let fenced = false;
  for (const line of markdown.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    const title = fenced ? undefined : /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (title === undefined) continue;
    const anchor = headingAnchor(title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', ''));
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** GitHub's rule: lower case, no punctuation but hyphens and underscores, a hyphen for each space. */
export function headingAnchor(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}
