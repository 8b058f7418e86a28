// On a narrow screen the side bar is a menu.
const button = document.querySelector('button.menu');
const menu = document.getElementById('menu');

function setOpen(isOpen) {
  button.setAttribute('aria-expanded', String(isOpen));
  menu.classList.toggle('open', isOpen);
}

button.hidden = false;
button.addEventListener('click', () => setOpen(!menu.classList.contains('open')));
menu.addEventListener('keydown', event => {
  if (event.key !== 'Escape' || !menu.classList.contains('open')) return;
  setOpen(false);
  button.focus();
});

// Beside the content the list may be longer than the window.
const current = menu.querySelector('[aria-current]');
if (current && current.offsetTop > menu.clientHeight)
  menu.scrollTop = current.offsetTop - menu.clientHeight / 2;
