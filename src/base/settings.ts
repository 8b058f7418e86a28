import { OperatorError } from './operator-error.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export interface Settings {
  port: number;
  host: string;
  /** As given; whoever opens it makes it absolute. */
  dataDir: string;
  /** Undefined means the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | undefined;
  logLevel: (typeof logLevels)[number];
  /** Undefined outside production means a key made and kept in `dataDir`. */
  secretKey: string | undefined;
}

type Environment = Record<string, string | undefined>;

/** Every setting, its default and its check; a bad one is named in the one line that stops the start. */
export function readSettings(environment: Environment): Settings {
  const read = (name: string) => environment[name]?.trim() || undefined;
  return {
    port: port('PORT', read('PORT') ?? '8080'),
    host: read('HOST') ?? '127.0.0.1',
    dataDir: read('DATA_DIR') ?? './data',
    databaseUrl: databaseUrl('DATABASE_URL', read('DATABASE_URL')),
    logLevel: oneOf('LOG_LEVEL', read('LOG_LEVEL') ?? 'info', logLevels),
    secretKey: secretKey('SECRET_KEY', read('SECRET_KEY'), read('NODE_ENV') === 'production'),
  };
}

function refuse(name: string, wanted: string): never {
  throw new OperatorError(`${name} ${wanted}. Correct it in the environment and start again.`);
}

function port(name: string, text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return value <= 65535 ? value : refuse(name, `must be a port from 0 to 65535, not "${text}"`);
}

function oneOf<Choice extends string>(name: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find(candidate => candidate === text);
  return choice ?? refuse(name, `must be one of ${choices.join(', ')}, not "${text}"`);
}

/** The value may hold a password, so the message never repeats it. */
function databaseUrl(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  if (['postgres:', 'postgresql:'].includes(protocol)) return text;
  return refuse(name, 'must look like postgresql://user:password@host:5432/database');
}

function secretKey(name: string, text: string | undefined, required: boolean): string | undefined {
  if (text === undefined) {
    if (required)
      refuse(name, 'must be set in production: 32 characters or more, kept as long as the database');
    return undefined;
  }
  return text.length >= 32 ? text : refuse(name, 'must have at least 32 characters');
}
