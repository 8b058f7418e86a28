import { type Html, html, type Part } from '../html.ts';

/** The names of the types of a schema, alone and after "list of". */
const types = {
  string: { one: 'string', many: 'strings' },
  integer: { one: 'integer', many: 'integers' },
  number: { one: 'number', many: 'numbers' },
  boolean: { one: 'boolean', many: 'booleans' },
  object: { one: 'object', many: 'objects' },
  array: { one: 'list', many: 'lists' },
  time: { one: 'time', many: 'times' },
  any: { one: 'any', many: 'anything' },
  null: { one: 'null', many: 'null' },
};

/** The other languages have the same texts: `SiteTexts`. Links lead to the pages in English; `localLinks` changes them. */
export const siteInEnglish = {
  frame: {
    skip: 'Skip to content',
    documentation: 'Documentation',
    theme: 'Theme',
    themes: { system: 'System', light: 'Light', dark: 'Dark' },
    menu: 'Menu',
    turn: 'Previous and next page',
    previous: 'Previous',
    next: 'Next',
    contents: 'On this page',
    description: (title: string) => `${title}: documentation of the Kopeck partner API`,
  },
  search: {
    placeholder: 'Search (press /)',
    label: 'Search the documentation',
    // The script puts the numbers in.
    found: 'Results: {found}',
    foundMore: 'Results: {found}, the first {shown} are shown',
    none: 'No results',
    failed: 'The search is not available. Try again.',
  },
  code: {
    output: 'Output',
    shell: 'Shell',
    table: 'Table',
    /** Of the tabs: the programming language. */
    language: 'Language',
    copy: 'Copy',
    copied: 'Copied',
    pressToCopy: 'Press Ctrl+C',
  },
  groups: {
    start: 'Start',
    guides: 'Guides',
    reference: 'API reference',
    events: 'Webhook events',
    releases: 'Releases',
  },
  pages: {
    guides: 'All guides',
    library: 'Client library',
    overview: 'Overview',
  },
  bot: {
    unnamed: "the service's Telegram bot (ask your contact at the service for its name)",
    named: (link: Html) => html`the Telegram bot ${link}`,
  },
  home: {
    title: 'Documentation',
    lead: html`With the Kopeck partner API you pay QR codes of the Russian Faster Payment System (SBP) in rubles from a USDT balance. You send the
link of a QR code; the service pays it, debits your balance once, and sends you the outcome as a webhook.`,
    cards: {
      firstPayment: {
        title: 'First payment',
        text: 'Pay a QR code with a test key in a few minutes. Nothing goes to a bank.',
      },
      guides: {
        title: 'Guides',
        text: 'Payments in processing, webhooks, test mode, reconciling and going live.',
      },
      reference: {
        title: 'API reference',
        text: 'Every operation with its fields, examples in five languages, and errors.',
      },
      library: {
        title: 'Client library',
        text: 'For TypeScript, Python and PHP: retries that never pay twice, paging, webhooks.',
      },
    },
    inShort: 'In short',
    steps: (bot: Part) => [
      html`Get a test key in ${bot}, and send it as <code>Authorization: Bearer svc_test_…</code>.`,
      html`Pay with <a href="/docs/reference/create-payment"><code>POST /v1/payments</code></a> and an <code>Idempotency-Key</code> of your own per payment. If you do not know the outcome, repeat the same request with the same key.`,
      html`Complete the order when the payment has <code>succeeded</code>. While it is <code>processing</code>, <a href="/docs/guides/processing">do not pay again and do not refund</a>.`,
      html`Receive the outcome as a <a href="/docs/guides/webhooks">webhook</a>, and <a href="/docs/guides/errors">handle errors</a> by their code.`,
    ],
    forPrograms: 'For programs',
    programs: html`The API as an OpenAPI 3.1 document: <a href="/openapi.json">/openapi.json</a>. The guides as Markdown: <a href="/llms.txt">/llms.txt</a>. What changed: <a href="/docs/changelog">changelog</a>.`,
  },
  reference: {
    title: 'API reference',
    version: (version: string) =>
      html`Version ${version}. The same as an OpenAPI document: <a href="/openapi.json">/openapi.json</a>.`,
    operations: 'Operations',
    operation: 'Operation',
    purpose: 'What it is for',
    /** Beside what goes beyond the contract. */
    optional: 'optional',
    places: { header: 'Headers', path: 'Path parameters', query: 'Query parameters' },
    body: 'Body',
    example: 'Example',
    exampleRequest: 'Example request',
    exampleResponse: 'Example response',
    response: 'Response',
    status: 'Status',
    mayGrow: 'Fields may be added: ignore those that you do not know.',
    code: 'Code',
    meaning: 'Meaning',
    noCode: 'no code',
    malformed: 'A field is missing or has the wrong type.',
    yourUrl: 'your URL',
    yourResponse: 'Your response',
    howToReceive: html`How to set the URL, verify the signature and handle retries is in the guide <a href="/docs/guides/webhooks">Webhooks</a>.`,
  },
  tryIt: {
    title: 'Try it',
    says: html`The request goes to this service, in test mode: no money moves. The page keeps your key in memory until you leave it.`,
    key: 'Test key',
    newKey: 'empty: a new key for each request',
    body: 'Body, JSON',
    send: 'Send request',
    answer: 'Response',
    live: 'This is a live key: nothing was sent, and the field is empty again. Use a test key here.',
    noKey: 'Enter a test key. It starts with svc_test_.',
    missing: 'Fill in:',
    sending: 'Sending…',
    answered: 'Response:',
    failed: 'No response. Check your connection and try again.',
  },
  fields: {
    /** The mark at the start of a description that is shown as a label. */
    optionalMark: 'Optional. ',
    required: 'required',
    optional: 'optional',
    always: 'Always',
    oneOf: 'One of',
    range: (from: number, to: number) => `${from} to ${to.toLocaleString('en')}`,
    maxLength: (characters: number) => `At most ${characters} characters`,
    byDefault: 'Default:',
    example: 'Example:',
    count: (fields: number) => `${fields} fields`,
    listOf: 'list of',
    or: 'or',
    types,
  },
  errors: {
    title: 'Errors',
    lead: html`Every error has a code, which is stable. What to do about each of them is in the guide
<a href="/docs/guides/errors">Error codes</a>.`,
    object: 'The error object',
    codes: 'Codes',
    malformed: 'Malformed requests',
    malformedText: html`HTTP 422 with <code>detail</code> instead of <code>error</code>: a field is missing or has the wrong type, and <code>loc</code> names it.`,
    retry: (isRetryable: boolean) => `Retry: ${isRetryable ? 'yes' : 'no'}.`,
    key: (isSame: boolean) => `Idempotency key: ${isSame ? 'the same' : 'a new one'}.`,
    returnedBy: (operations: Part) => html`Returned by ${operations}.`,
    everyOperation: 'every operation',
    advice: (code: string) => html`What to do about <code>${code}</code>`,
  },
  notFound: {
    title: 'Page not found',
    lead: 'There is no page at this address. It may have moved: search for it, or start here:',
  },
  landing: {
    title: 'Kopeck: SBP QR codes paid from a USDT balance',
    description:
      'Kopeck pays SBP QR codes in rubles from a USDT balance: an API with a test mode and signed webhooks',
    heading: 'Pay Russian QR codes from a USDT balance',
    lead: html`Your program sends the link of a QR code of the Russian Faster Payment System (SBP). Kopeck pays it in rubles, debits your USDT
balance once, and sends you the outcome as a signed webhook.`,
    start: 'Make a first payment',
    reference: 'API reference',
    bot: 'Get a test key in Telegram',
    audience: 'Who it is for',
    audiences: {
      wallets: {
        title: 'Wallets and exchanges',
        text: 'Your customers hold USDT and stand at the till of a Russian shop. They scan its QR code in your app, see the price in USDT, and pay.',
      },
      services: {
        title: 'Online services',
        text: 'You pay for goods, tickets or services in Russia for your customers, and keep your money in USDT.',
      },
      companies: {
        title: 'Companies with several programs',
        text: 'One balance, and a key for each program: with its own scopes, limits and allowed IP addresses.',
      },
    },
    way: 'How a payment goes',
    steps: [
      html`You send the link of the QR code, with an <code>Idempotency-Key</code> of your own.`,
      html`Kopeck fixes the rate and holds the USDT on your balance.`,
      html`The payment gateway pays the code in rubles.`,
      html`The hold becomes a debit. If the payment fails, it goes back to your balance.`,
      html`You get the outcome: in the response, or as a signed webhook.`,
    ],
    picture: {
      label:
        'Your program sends POST /v1/payments to Kopeck. Kopeck holds the USDT, pays in rubles through the bank, gets the outcome, debits the USDT, and sends the webhook payment.succeeded.',
      program: 'Your program',
      bank: 'SBP',
      hold: 'rate fixed, USDT held',
      pay: 'pays in rubles',
      outcome: 'outcome',
      debit: 'USDT debited',
    },
    reliance: 'What you can rely on',
    reliances: {
      once: {
        title: 'One payment per idempotency key',
        text: 'A repeat with the same key returns the same payment. Nothing is debited twice, even if a connection breaks.',
      },
      price: {
        title: 'A price that you know',
        text: 'Ask for a quote before you pay, or lock its rate for the payment that follows.',
      },
      test: {
        title: 'A test mode without money',
        text: 'A test key uses the same endpoints. The kopecks of the amount choose the outcome; failures come on request.',
      },
      records: {
        title: 'Records to compare',
        text: 'A statement for each day and a feed of all events, for your reconciliation.',
      },
    },
    request: 'A first request',
    requestText: html`Put your test key in place of <code>svc_test_…</code>. Nothing goes to a bank.`,
    answerText: 'The response is the payment:',
    where: 'Where to go next',
    links: {
      docs: { title: 'Documentation', text: 'guides and API reference, with search' },
      library: { title: 'Client libraries', text: 'for TypeScript, Python and PHP' },
      openapi: { title: 'OpenAPI document', text: 'the API for your tools, as JSON' },
      status: { title: 'Service status', text: 'whether payments, webhooks and the rate work now' },
      portal: { title: 'Portal', text: 'payments, balance, keys and webhooks of your company' },
      bot: { title: 'Telegram bot', text: 'sign up, create keys, get notifications' },
    },
  },
  llms: {
    lead: 'The partner API of Kopeck pays QR codes of the Russian Faster Payment System (SBP) in rubles from a USDT balance.',
    openapi: 'every operation with its fields, examples and errors',
  },
};

/** What every language has. */
export type SiteTexts = typeof siteInEnglish;
