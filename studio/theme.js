/* Light or dark: as the person has chosen in the studio, else as the system has it. Before anything is drawn. */
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const chosen = () => { try { return localStorage.getItem('earshot.theme'); } catch { return null; } };
  const apply = () => { document.documentElement.dataset.theme = chosen() === 'dark' || (chosen() !== 'light' && dark.matches) ? 'dark' : 'light'; };
  dark.addEventListener('change', apply);
  addEventListener('storage', apply);
  apply();
})();
