const MARK = 'data-first-focus';

/** Marks the field that a dialog opens with. `autoFocus` is undone where the dialog opens above a panel, which keeps the focus until then. */
export function firstFocus(isFirst: boolean): { readonly [MARK]?: true } {
  return isFirst ? { [MARK]: true } : {};
}

/** Focuses the marked field of a dialog that opens; without one, the dialog chooses. */
export function focusMarked(event: Event): void {
  const { target } = event;
  const marked = target instanceof Element ? target.querySelector<HTMLElement>(`[${MARK}]`) : null;
  if (marked === null) return;
  event.preventDefault();
  marked.focus();
}
