export type LetterKind =
  | 'invitation'
  | 'password_reset'
  | 'sign_up'
  | 'new_sign_in'
  | 'password_changed'
  | 'email_changed'
  | 'alert';

/** One message to one person. */
export interface Letter {
  readonly kind: LetterKind;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface LetterContent {
  readonly kind: LetterKind;
  readonly to: string;
  readonly subject: string;
  readonly before: readonly string[];
  readonly link: { readonly label: string; readonly url: string };
  readonly after: readonly string[];
}

/** The same words as plain text and as HTML without images, styles from elsewhere, or anything that reports back. */
export function composeLetter({ kind, to, subject, before, link, after }: LetterContent): Letter {
  const text = [...before, `${link.label}:\n${link.url}`, ...after].join('\n\n');
  const paragraphs = [
    ...before.map(escaped),
    `<a href="${escaped(link.url)}">${escaped(link.label)}</a>`,
    ...after.map(escaped),
  ].map((each) => `<p>${each.replaceAll('\n', '<br>')}</p>`);
  const html =
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head>` +
    `<body style="font-family:sans-serif;max-width:36em">${paragraphs.join('')}</body></html>`;
  return { kind, to, subject: oneLine(subject), text: `${text}\n`, html };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Text from people, for a header: without line breaks and other control characters. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}
