import type { Assets } from '../docs/assets.ts';
import { type Html, html } from '../docs/html.ts';
import { shell } from '../docs/layout.ts';
import type { Language } from '../docs/locale.ts';
import { components, overallState, type ServiceStatus } from './service-status.ts';
import { formatTime, textsByLanguage } from './texts.ts';

export const statusPath = '/status';

/** The status as a page in one language. */
export function statusPage(status: ServiceStatus, language: Language, assets: Assets): Html {
  const texts = textsByLanguage[language];
  const { title, description } = texts;
  const time = (at: Date) => timeIn(language, at);
  return shell(
    {
      language,
      path: statusPath,
      title: `${title} · Kopeck`,
      description,
      content: html`<main id="content" class="landing" tabindex="-1">
<h1>${title}</h1>
<p><strong>${texts.overall[overallState(status)]}</strong></p>
${status.maintenance?.isOn && html`<p>${texts.maintenanceNow}</p>\n`}<table>
<thead><tr><th scope="col">${texts.component}</th><th scope="col">${texts.state}</th></tr></thead>
<tbody>
${components.map(
  name =>
    html`<tr><th scope="row">${texts.components[name]}</th><td>${texts.states[status[name]]}</td></tr>\n`,
)}</tbody>
</table>
<h2>${texts.maintenance}</h2>
${windowsOf(status, language)}
<p>${texts.checkedAt} ${time(status.checkedAt)} · <a href="/status.json">${texts.forPrograms}</a></p>
</main>`,
    },
    { assets },
  );
}

function windowsOf({ maintenance }: ServiceStatus, language: Language): Html {
  const texts = textsByLanguage[language];
  if (!maintenance) return html`<p>${texts.unknownWindows}</p>`;
  if (maintenance.windows.length === 0) return html`<p>${texts.noWindows}</p>`;
  return html`<ul>
${maintenance.windows.map(
  ({ from, until }) =>
    html`<li>${texts.window(formatTime(language, from), formatTime(language, until))}</li>\n`,
)}</ul>`;
}

const timeIn = (language: Language, at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${formatTime(language, at)}</time>`;
