// A button on every block of code, except on what a command prints.
const shownMs = 2_000;
const texts = document.body.dataset;

for (const block of document.querySelectorAll('.code:not(.text)')) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: texts.copy });
  // Screen readers read the new text of the button.
  button.setAttribute('aria-live', 'polite');
  let timer;
  button.addEventListener('click', async () => {
    const code = block.querySelector('code');
    button.textContent = (await copy(code)) ? texts.copied : texts.pressToCopy;
    clearTimeout(timer);
    timer = setTimeout(() => (button.textContent = texts.copy), shownMs);
  });
  block.append(button);
}

/** A browser allows it only over https and on the own machine; elsewhere the code is selected. */
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return false;
  }
}
