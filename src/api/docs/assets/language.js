// The same page in another language: the section that is being read, and from now on the first pages too.
import { write } from './storage.js';

/** What is below the header when a link to a section was followed, and a line more. */
const headerPx = 100;

for (const link of document.querySelectorAll('header a[hreflang]'))
  link.addEventListener('click', () => {
    write('site-language', link.hreflang);
    const above = Array.from(document.querySelectorAll('main :is(h2, h3, h4)[id]')).filter(
      heading => heading.getBoundingClientRect().top <= headerPx,
    );
    link.hash = above.at(-1)?.id ?? '';
  });
