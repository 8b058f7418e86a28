// One example in several languages: a group of tabs. The chosen language holds for all groups and pages.
import { read, write } from './storage.js';

const groups = Array.from(document.querySelectorAll('.tabs'), createTabs);
show(read('language'));

function createTabs(group, number) {
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', document.body.dataset.codeLanguage);
  const tabs = Array.from(group.querySelectorAll('.tab'), panel => createTab(panel, number));
  list.append(...tabs.map(({ tab }) => tab));
  group.prepend(list);
  list.addEventListener('keydown', event => moveFocus(event, tabs));
  return tabs;
}

function createTab(panel, number) {
  const { language } = panel.dataset;
  const heading = panel.querySelector('.tab-name');
  const tab = document.createElement('button');
  Object.assign(tab, { type: 'button', id: `tab-${number}-${language}`, textContent: heading.textContent });
  panel.id = `panel-${number}-${language}`;
  tab.setAttribute('role', 'tab');
  tab.setAttribute('aria-controls', panel.id);
  panel.setAttribute('role', 'tabpanel');
  panel.setAttribute('aria-labelledby', tab.id);
  heading.remove();
  tab.addEventListener('click', () => choose(tab, language));
  return { tab, panel, language };
}

/** Groups above may become longer or shorter; what the reader clicked stays where it is. */
function choose(tab, language) {
  const { top } = tab.getBoundingClientRect();
  show(language);
  scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: 'instant' });
  write('language', language);
}

/** A group without the language keeps what it shows. */
function show(language) {
  for (const tabs of groups) {
    const shown =
      tabs.find(one => one.language === language) ?? tabs.find(({ tab }) => tab.ariaSelected === 'true');
    for (const one of tabs) {
      const isShown = one === (shown ?? tabs[0]);
      one.tab.ariaSelected = String(isShown);
      one.tab.tabIndex = isShown ? 0 : -1;
      one.panel.hidden = !isShown;
    }
  }
}

function moveFocus(event, tabs) {
  const index = tabs.findIndex(({ tab }) => tab === event.target);
  const last = tabs.length - 1;
  const target = {
    ArrowLeft: index === 0 ? last : index - 1,
    ArrowRight: index === last ? 0 : index + 1,
    Home: 0,
    End: last,
  }[event.key];
  if (target === undefined) return;
  event.preventDefault();
  tabs[target].tab.focus();
  choose(tabs[target].tab, tabs[target].language);
}
