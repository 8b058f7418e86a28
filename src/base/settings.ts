import { parseDatabaseUrl } from './database-url.ts';
import { readDepositChains, readScreenUrl } from './deposit-settings.ts';
import { refuseSetting as refuse } from './operator-error.ts';
import { readQuoteLock } from './quote-settings.ts';
import { parseRateSources, type RateSourceSetting, readRateBounds } from './rate-sources.ts';
import { readS3Settings } from './s3-settings.ts';
import { readSmtp } from './smtp-settings.ts';
import { wholeNumber } from './whole-number.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const allRoles = ['api', 'worker', 'bot', 'console'] as const;

const languages = ['ru', 'en'] as const;

export type Settings = ReturnType<typeof readSettings>;

const secPerDay = 86_400;
/** Anything else, such as `prod`, would be taken for development, with its weaker checks. */
const nodeEnvs = ['production', 'development', 'test'] as const;

type Environment = Record<string, string | undefined>;

/** Every setting with its default and its check. A bad one stops the start with one line that names it. */
export function readSettings(environment: Environment) {
  const read = (name: string) => environment[name]?.trim() || undefined;
  /** What is set is checked; undefined if nothing is. */
  const checked = <Value>(name: string, check: (name: string, text: string) => Value) => {
    const text = read(name);
    return text === undefined ? undefined : check(name, text);
  };
  const number = (name: string, byDefault: string, min: number, max: number) =>
    wholeNumber(name, read(name) ?? byDefault, min, max);
  const rateSources = checked('RATE_SOURCES', (_name, text) => parseRateSources(text));
  const rateBounds = readRateBounds(read('RATE_MIN'), read('RATE_MAX'), rateSources);
  const production = oneOf('NODE_ENV', read('NODE_ENV') ?? 'development', nodeEnvs) === 'production';
  return {
    production,
    roles: list(read('ROLES') ?? allRoles.join(',')).map(role => oneOf('ROLES', role, allRoles)),
    /** How many processes serve on one port; undefined means half as many as the machine has cores, up to a few. */
    processes: checked('PROCESSES', (name, text) => wholeNumber(name, text, 1, 16)),
    port: port('PORT', read('PORT') ?? '8080'),
    host: read('HOST') ?? '127.0.0.1',
    metricsPort: checked('METRICS_PORT', (name, text) => metricsPort(name, text, read('PORT') ?? '8080')),
    metricsHost: read('METRICS_HOST') ?? '127.0.0.1',
    /** The collector that gets traces; undefined: none are made. */
    otlpEndpoint: checked('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl),
    /** As given, possibly relative to the working directory. */
    dataDir: read('DATA_DIR') ?? './data',
    /** Undefined means the embedded PostgreSQL in `dataDir`. */
    databaseUrl: checked('DATABASE_URL', databaseUrl),
    /** Where backups and the WAL of the embedded PostgreSQL go; undefined means that no WAL is archived. */
    backupDir: read('BACKUP_DIR'),
    /** Where heads of the audit log are kept: a folder, or one of a bucket; undefined means that they are only logged. */
    auditHeads: checked('AUDIT_HEADS', auditHeads),
    /** For a bucket; undefined if none of its settings is set. */
    s3: readS3Settings(read),
    logLevel: oneOf('LOG_LEVEL', read('LOG_LEVEL') ?? 'info', logLevels),
    /** How long a process that was asked to stop still serves, so that its callers find another. */
    drainSec: number('DRAIN_SEC', production ? '5' : '0', 0, 300),
    /** Undefined (only outside production) means a key generated and stored in `dataDir`. */
    secretKey: checked('SECRET_KEY', secretKey) ?? unlessProduction('SECRET_KEY', production),
    /** Keys that are still accepted; without `secretKey` there are none. */
    previousSecretKeys:
      checked('SECRET_KEY_PREVIOUS', (name, text) => previousKeys(name, text, read('SECRET_KEY'))) ?? [],
    /** Undefined means the bundled simulator. */
    gatewayUrl: checked('GATEWAY_URL', httpUrl),
    gatewayToken: checked('GATEWAY_TOKEN', token),
    /** Hosts of SBP links; links are normalised to the first one. */
    qrHosts: list(read('QR_HOSTS') ?? 'qr.nspk.ru,web.qr.nspk.ru').map(name => host('QR_HOSTS', name)),
    /** Addresses and ranges of proxies whose X-Forwarded-For is trusted. */
    trustProxy: list(read('TRUST_PROXY') ?? '').map(range => addressRange('TRUST_PROXY', range)),
    /** Undefined means the feed of the bundled simulator. */
    rateSources,
    /** The service's margin on every rate, in hundredths of a percent. */
    rateSpreadBps: number('RATE_SPREAD_BPS', '100', 0, 5_000),
    rateRefreshSec: number('RATE_REFRESH_SEC', '60', 1, secPerDay),
    /** So many for one partner and day in UTC, whatever their outcome. */
    testPaymentsPerDay: number('TEST_PAYMENTS_PER_DAY', '10000', 1, 1_000_000_000),
    /** How long test payments stay after their end. */
    testDataDays: number('TEST_DATA_DAYS', '90', 7, 3_650),
    /** How many whole months stay in the live tables; 0: none is archived by itself. Undefined: it depends on the database. */
    archiveAfterMonths: checked('ARCHIVE_AFTER_MONTHS', (name, text) => wholeNumber(name, text, 0, 120)),
    /** How long the log of API requests is kept; 0: nothing is logged. */
    requestLogDays: number('REQUEST_LOG_DAYS', '7', 0, 90),
    rateMaxAgeSec: number('RATE_MAX_AGE_SEC', '300', 1, secPerDay),
    /** No quote outside is ever used. */
    rateBounds,
    quoteLock: readQuoteLock(read),
    cryptoPayToken: checked('CRYPTO_PAY_TOKEN', token) ?? unlessCryptoPay('CRYPTO_PAY_TOKEN', rateSources),
    /** The pause before each delivery attempt of an event; one attempt per pause. */
    webhookRetryScheduleSec: retrySchedule('WEBHOOK_RETRY_SCHEDULE_SEC', read('WEBHOOK_RETRY_SCHEDULE_SEC')),
    /** Whether receivers may be on this machine or in a private network. */
    webhookAllowPrivate: allowPrivate('WEBHOOK_ALLOW_PRIVATE', read('WEBHOOK_ALLOW_PRIVATE'), production),
    /** The address shown to partners; undefined means the address it listens on. */
    publicUrl: checked('PUBLIC_URL', httpUrl),
    /** Where partners reach support; undefined means that no text sends them there. */
    supportUrl: checked('SUPPORT_URL', supportUrl),
    /** How long somebody stays signed in to the portal who has not chosen to be remembered. */
    portalSessionHours: number('PORTAL_SESSION_HOURS', '12', 1, 24),
    /** Undefined means no bot. */
    telegramToken: checked('TELEGRAM_BOT_TOKEN', botToken),
    telegramBotName: checked('TELEGRAM_BOT_NAME', botName),
    telegramApiRoot: checked('TELEGRAM_API_ROOT', httpUrl) ?? 'https://api.telegram.org',
    /** The chat that gets alarms and requests for approval. */
    telegramStaffChat: checked('TELEGRAM_STAFF_CHAT', chatId),
    telegramStaffLanguage: oneOf(
      'TELEGRAM_STAFF_LANGUAGE',
      read('TELEGRAM_STAFF_LANGUAGE') ?? 'ru',
      languages,
    ),
    /** Telegram pushes its updates here; undefined means long polling. */
    telegramWebhook: telegramWebhook(read('TELEGRAM_WEBHOOK_URL'), read('TELEGRAM_WEBHOOK_SECRET')),
    /** Undefined means that no mails are sent. */
    smtp: readSmtp(read),
    /** The chains on which USDT is deposited; empty: none. */
    depositChains: readDepositChains(read),
    /** Asked before a deposit is credited; undefined: nobody is. */
    depositScreenUrl: readScreenUrl(read),
  };
}

const metricsPort = (name: string, text: string, publicPort: string) =>
  text === publicPort && text !== '0' ? refuse(name, 'must not be the same as PORT') : port(name, text);

/** A bucket alone would mix the heads with everything else in it. */
const auditHeads = (name: string, text: string) =>
  /^s3:\/\/[^/]*\/?$/.test(text)
    ? refuse(name, 'must name a folder of the bucket: s3://BUCKET/FOLDER')
    : text;

function retrySchedule(name: string, text = '0,10,30,120,300,900,3600,10800,21600'): number[] {
  const values = text.split(',').map(pause => wholeNumber(name, pause.trim(), 0, 7 * secPerDay));
  return values[0] === 0 ? values : refuse(name, 'must start with 0: the first attempt is immediate');
}

/** Disables the SSRF guard (development only). */
function allowPrivate(name: string, text: string | undefined, production: boolean): boolean {
  const allowed = oneOf(name, text ?? `${!production}`, ['true', 'false']) === 'true';
  return allowed && production ? refuse(name, 'must not be true in production') : allowed;
}

function port(name: string, text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return value <= 65535 ? value : refuse(name, `must be a port from 0 to 65535, not "${text}"`);
}

function oneOf<Choice extends string>(name: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find(candidate => candidate === text);
  return choice ?? refuse(name, `must be one of ${choices.join(', ')}, not "${text}"`);
}

function databaseUrl(_name: string, text: string): string {
  parseDatabaseUrl(text);
  return text;
}

const secretKey = (name: string, text: string) =>
  text.length >= 32 ? text : refuse(name, 'must have at least 32 characters');

const unlessProduction = (name: string, production: boolean) =>
  production
    ? refuse(name, 'must be set in production: 32 characters or more, kept as long as the database')
    : undefined;

/** One per line: a key may contain every other character. */
function previousKeys(name: string, text: string, current: string | undefined): string[] {
  if (current === undefined) refuse(name, 'needs SECRET_KEY: keys in DATA_DIR are lines of secret.key');
  const keys = text.split('\n').map(line => line.trim());
  if (keys.some(key => key.length < 32)) refuse(name, 'must have at least 32 characters in each line');
  return keys.includes(current!) ? refuse(name, 'must not repeat SECRET_KEY') : keys;
}

const list = (text: string) =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '');

/** Without slashes at its end, so that a path can be appended. */
function httpUrl(name: string, text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  if (!['http:', 'https:'].includes(protocol)) refuse(name, 'must be an http:// or https:// URL');
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

/** What a phone opens: a page, a chat of Telegram, or a message to one address. */
function supportUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isMail = /^mailto:[\w.+-]+@[a-z0-9.-]+$/i.test(text);
  const isPage = url?.protocol === 'https:' && url.username === '' && url.password === '';
  // The first page of Telegram is nobody's chat.
  const isSomebody = url?.hostname !== 't.me' || url.pathname.length > 1;
  return url && (isMail || (isPage && isSomebody))
    ? url.href
    : refuse(name, `must be an https:// URL, https://t.me/NAME or mailto:ADDRESS, not "${text}"`);
}

function host(name: string, text: string): string {
  return /^[a-z0-9.-]+$/i.test(text)
    ? text.toLowerCase()
    : refuse(name, `must be a list of host names, not "${text}"`);
}

/** Checks only the characters; the HTTP server refuses what is not an address. */
function addressRange(name: string, text: string): string {
  const problem = `must be IP addresses or ranges such as 10.0.0.0/8, not "${text}"`;
  return /^[0-9a-f.:]+(\/\d{1,3})?$/i.test(text) ? text : refuse(name, problem);
}

/** A secret that goes into a header. The message never repeats it. */
const token = (name: string, text: string) =>
  /^[\x21-\x7e]+$/.test(text) ? text : refuse(name, 'must be printable ASCII without spaces');

/** A secret, so the message never repeats it. */
const botToken = (name: string, text: string) =>
  /^\d+:[\w-]{30,}$/.test(text)
    ? text
    : refuse(name, 'must be a bot token from @BotFather: digits, a colon and letters');

function botName(name: string, text: string): string {
  const [, found] = /^@?([a-z]\w{4,31})$/i.exec(text) ?? [];
  return found ?? refuse(name, `must be the user name of a bot, such as kopeck_bot, not "${text}"`);
}

/** Anyone can send to the address; the secret proves that a request comes from Telegram. */
function telegramWebhook(url: string | undefined, secret: string | undefined) {
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isValid = parsed?.protocol === 'https:' && parsed.pathname.length > 1 && parsed.search === '';
  if (!isValid) refuse('TELEGRAM_WEBHOOK_URL', 'must be an https URL with its own path');
  const isSecret = secret !== undefined && /^[\w-]{16,256}$/.test(secret);
  return isSecret
    ? { url, secret }
    : refuse(
        'TELEGRAM_WEBHOOK_SECRET',
        'must be 16 to 256 letters, digits, _ and - with TELEGRAM_WEBHOOK_URL',
      );
}

function chatId(name: string, text: string): number {
  const problem = `must be a chat ID, such as -1001234567890, not "${text}"`;
  return /^-?[1-9]\d{0,14}$/.test(text) ? Number(text) : refuse(name, problem);
}

const unlessCryptoPay = (name: string, rateSources: RateSourceSetting[] | undefined) =>
  rateSources?.some(source => source.name === 'cryptopay')
    ? refuse(name, 'must be set when RATE_SOURCES has cryptopay')
    : undefined;
