// Runs before the page is shown, so that nothing on it changes afterwards: neither the colours nor the hidden controls.
document.documentElement.classList.add('js');
try {
  const theme = localStorage.getItem('kopeck-docs-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser that stores nothing shows the colours of the system.
}
