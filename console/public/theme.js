// Runs before the first paint, so that a dark page never flashes white. The policy forbids inline scripts.
{
  const kept = localStorage.getItem('relay-theme');
  const dark = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}
