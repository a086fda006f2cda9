import { createContext, useContext } from 'react';

/** Opens the command palette; for pages outside of the shell's own components. */
export const PaletteContext = createContext<() => void>(() => undefined);

export function useOpenPalette(): () => void {
  return useContext(PaletteContext);
}
