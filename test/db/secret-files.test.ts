import { chmodSync, chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeNew } from '../../src/db/backup-store/index.ts';
import { loadSettings } from '../../src/db/secrets/secret-files.ts';
import { kopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';

const secret = 'a secret key for the tests, long enough';

function file(text: string, mode = 0o600): string {
  const path = join(newFolder(), 'secret');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('secrets from files', () => {
  test('each is read as if it stood in the environment', () => {
    const settings = loadSettings({
      SECRET_KEY_FILE: file(`${secret}\n`),
      DATABASE_URL_FILE: file('postgresql://me@db/kopeck\n', 0o400),
      GATEWAY_TOKEN_FILE: file('gateway-token'),
      CRYPTO_PAY_TOKEN_FILE: file('crypto-token'),
      TELEGRAM_BOT_TOKEN_FILE: file(`1:${'x'.repeat(35)}`),
      TELEGRAM_WEBHOOK_URL: 'https://pay.example.com/hook',
      TELEGRAM_WEBHOOK_SECRET_FILE: file('s'.repeat(20)),
      AWS_SECRET_ACCESS_KEY_FILE: file('aws-secret'),
      AWS_SESSION_TOKEN_FILE: file('aws-session'),
    });
    expect(settings).toMatchObject({
      secretKey: secret,
      databaseUrl: 'postgresql://me@db/kopeck',
      gatewayToken: 'gateway-token',
      cryptoPayToken: 'crypto-token',
      telegramToken: `1:${'x'.repeat(35)}`,
      telegramWebhook: { secret: 's'.repeat(20) },
      s3: { secretAccessKey: 'aws-secret', sessionToken: 'aws-session' },
    });
  });

  const refusal = (environment: Record<string, string>) => {
    try {
      loadSettings(environment);
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };

  test.each([0o644, 0o604, 0o622, 0o666])('a file with mode %o is refused with the fix', mode => {
    const path = file(secret, mode);
    expect(refusal({ SECRET_KEY_FILE: path })).toBe(
      `SECRET_KEY_FILE can be read or changed by other users (${path} has mode ${mode.toString(8)}): run chmod 600 ${path}, with the user of the service as its owner.`,
    );
  });

  test.runIf(process.getuid!() === 0)('only a file of root may be readable by its group', () => {
    const path = file(secret, 0o640);
    expect(refusal({ SECRET_KEY_FILE: path })).toBe('accepted');
    chownSync(path, 65534, 65534);
    expect(refusal({ SECRET_KEY_FILE: path })).toContain('can be read or changed by other users');
  });

  test.each([
    ['missing', () => join(newFolder(), 'none'), / cannot be read \(\S+: there is no such file: /],
    ['empty', () => file(' \n'), / is an empty file \(\S+\): write the secret into it\.$/],
    ['a folder', newFolder, / is not a file \(\S+\): correct the path\.$/],
    ['too long', () => file('x'.repeat(70_000)), / is too long for a secret \(\S+\)/],
  ])('a file that is %s is named in one line', (_name, path, message) => {
    expect(refusal({ GATEWAY_TOKEN_FILE: path() })).toMatch(
      new RegExp(`^GATEWAY_TOKEN_FILE${message.source}`),
    );
  });

  test('a secret that is given both ways is refused, without repeating it', () => {
    const message = refusal({ SECRET_KEY: secret, SECRET_KEY_FILE: file(secret) });
    expect(message).toBe('SECRET_KEY and SECRET_KEY_FILE are both set: remove one.');
  });

  test('a secret in a file is checked like any other, and never repeated', () => {
    expect(refusal({ SECRET_KEY_FILE: file('short') })).toMatch(
      /^SECRET_KEY must have at least 32 characters/,
    );
  });

  test('doctor says so too', async () => {
    const { code, stdout } = await kopeck({ SECRET_KEY_FILE: file(secret, 0o644) }, 'doctor --json');
    expect(code).toBe(1);
    const detail = expect.stringMatching(/^SECRET_KEY_FILE can be read .*chmod 600/);
    expect(JSON.parse(stdout).checks).toEqual([{ check: 'settings', state: 'bad', detail }]);
  });
});

test('a file is written once, for its owner alone, and no draft is left', async () => {
  const folder = newFolder();
  const path = join(folder, 'place.json');
  expect(await writeNew(path, 'first')).toBe(true);
  expect(await writeNew(path, 'second')).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['place.json']);
});
