import { read, write } from './storage.js';

const label = document.querySelector('.theme');
const select = label.querySelector('select');
select.value = read('theme');
label.hidden = false;
select.addEventListener('change', () => {
  write('theme', select.value);
  if (select.value === '') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = select.value;
});
