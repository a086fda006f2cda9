import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { keysOf } from '../format/values.ts';
import { usePages } from '../session/use-pages.ts';
import { text } from '../text/index.ts';

const words = text.spendPages;
export type SpendPage = keyof typeof words.answers;

interface SpendPagesProps {
  readonly here: SpendPage;
  readonly answers?: string;
}

/** The description of a page about spend: the question it answers, and which page answers the others. */
export function SpendPages({ here, answers = words.answers[here] }: SpendPagesProps) {
  const open = usePages();
  const others = keysOf(words.others).flatMap((path) => {
    const page = open.find((each) => each.path === path);
    return path === here || page === undefined ? [] : [{ path, label: page.label }];
  });
  return (
    <>
      {answers}
      {others.map(({ path, label }, index) => (
        <Fragment key={path}>
          {index === 0 ? words.first : words.next}
          {words.others[path]}
          {words.see}
          <Link to={path} className="link">
            {label}
          </Link>
        </Fragment>
      ))}
      .
    </>
  );
}
