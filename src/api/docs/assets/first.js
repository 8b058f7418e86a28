// Runs before the page is shown, so that nothing on it changes afterwards: neither the colours nor the hidden controls.
document.documentElement.classList.add('js');
try {
  const theme = localStorage.getItem('kopeck-docs-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  // The first pages are shown in the language that the reader chose; a link to any other page is followed as it is.
  const chosen = localStorage.getItem('kopeck-docs-site-language');
  const isFirst = /^\/(?:docs\/)?(?:ru\/)?$/.test(location.pathname);
  if (isFirst && chosen && chosen !== document.documentElement.lang) {
    const same = document.querySelector(`link[rel="alternate"][hreflang="${CSS.escape(chosen)}"]`);
    if (same) location.replace(new URL(same.href).pathname + location.search + location.hash);
  }
} catch {
  // A browser that stores nothing shows the colours of the system, and the language of the address.
}
