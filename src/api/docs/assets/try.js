// "Try it": one request to this service with a test key, which is kept in memory only. A live key is refused here.
const longestAnswerMs = 90_000;

const section = document.querySelector('.try');
if (section) begin();

function begin() {
  const texts = section.dataset;
  const find = selector => section.querySelector(selector);
  const [key, send, status, answer] = ['.key', '.send', '[role="status"]', '.code'].map(find);
  const fields = Array.from(section.querySelectorAll('[data-in]'));
  section.hidden = false;

  send.addEventListener('click', async () => {
    answer.hidden = true;
    const wrong = problem();
    if (wrong) {
      status.textContent = wrong;
      return;
    }
    send.disabled = true;
    status.textContent = texts.sending;
    try {
      const { path, ...request } = requestOf();
      const response = await fetch(path, request);
      const text = await response.text();
      status.textContent = `${texts.answered} ${response.status} · ${response.headers.get('x-request-id') ?? ''}`;
      answer.querySelector('code').textContent = laidOut(text);
      answer.hidden = false;
    } catch {
      status.textContent = texts.failed;
    }
    send.disabled = false;
  });

  /** Why nothing is sent. A live key does not stay on the page either. */
  function problem() {
    const text = key.value.trim();
    if (/^svc_live_/i.test(text)) {
      key.value = '';
      return texts.live;
    }
    if (!/^svc_test_[0-9a-f_]+$/.test(text)) return texts.noKey;
    const missing = fields.find(one => 'needed' in one.dataset && one.value.trim() === '');
    missing?.focus();
    return missing && `${texts.missing} ${missing.name}`;
  }

  function requestOf() {
    const filled = fields
      .map(({ name, value, dataset }) => ({ name, value: value.trim(), place: dataset.in }))
      .filter(({ name, value }) => value !== '' || name === 'Idempotency-Key');
    const those = place => filled.filter(one => one.place === place);
    const query = new URLSearchParams(those('query').map(({ name, value }) => [name, value]));
    const path = those('path').reduce(
      (text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(value)),
      texts.path,
    );
    const body = find('textarea')?.value;
    return {
      path: query.size > 0 ? `${path}?${query}` : path,
      method: texts.method,
      headers: {
        Authorization: `Bearer ${key.value.trim()}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...Object.fromEntries(those('header').map(({ name, value }) => [name, value || newKey()])),
      },
      body,
      // Neither a session of the console or the portal goes along, nor does anything of the answer stay.
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(longestAnswerMs),
    };
  }
}

/** Not `randomUUID`, which browsers have over https only. */
const newKey = () =>
  `try-${Array.from(crypto.getRandomValues(new Uint8Array(12)), byte => byte.toString(16).padStart(2, '0')).join('')}`;

/** JSON is indented; anything else, and numbers that would lose digits, are shown as they are. */
function laidOut(text) {
  const withoutSpace = one => one.replace(/\s/g, '');
  try {
    const indented = JSON.stringify(JSON.parse(text), null, 2);
    return withoutSpace(indented) === withoutSpace(text) ? indented : text;
  } catch {
    return text;
  }
}
