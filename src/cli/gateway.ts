import { readFileSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { formatKopecks } from '../base/money.ts';
import { checkGateway, type GatewayCheck } from '../gateway/index.ts';
import { lateProgressBar, type Output, refuse, table } from './output.ts';
import { httpUrl } from './remote.ts';
import { group, type MakeCommand, type Terminal } from './terminal.ts';

export const gatewayCommands = (command: MakeCommand<Terminal>) =>
  group('gateway', 'test an adapter to a bank', [
    command(
      'check',
      "test an adapter against the payment gateway's contract, at the bank's test stand",
      check,
    )
      .argument('<url>', 'as GATEWAY_URL has it', httpUrl)
      .option('--token-file <file>', 'its first line is the token (default: GATEWAY_TOKEN)')
      .option('--qr <link>', 'link of a reusable QR code of the test stand, of at most 100 RUB')
      .option('--pay', 'also place orders: up to 6, which pay the QR code'),
  ]);

async function check(
  terminal: Terminal,
  url: string,
  { tokenFile, qr: qrUrl, pay: pays = false }: { tokenFile?: string; qr?: string; pay?: boolean },
) {
  if (pays && qrUrl === undefined)
    refuse('no_qr', 'With --pay, pass --qr with the link of a QR code to pay.');
  if (pays) refuseOwnGateway(terminal, url);
  const result = await checkGateway({
    url,
    token: readToken(terminal, tokenFile),
    qrUrl,
    pays,
    clock: systemClock,
    onProgress: lateProgressBar(terminal.stderr, 'checks'),
  });
  return describe(url, pays, result);
}

/** Orders with the gateway of a running service would be paid with real money, and would be unmatched orders. */
function refuseOwnGateway({ env }: Terminal, url: string): void {
  const isOwn = env.GATEWAY_URL?.trim() && new URL(env.GATEWAY_URL.trim()).href === new URL(url).href;
  if (env.NODE_ENV?.trim() === 'production' && isOwn)
    refuse(
      'live_gateway',
      "This is the GATEWAY_URL of a service in production: with --pay use an adapter at the bank's test stand.",
    );
}

function readToken({ env }: Terminal, file: string | undefined): string | undefined {
  if (file === undefined) return env.GATEWAY_TOKEN?.trim() || undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    refuse('bad_token_file', `The token file ${file} cannot be read (${code}).`);
  }
  const [token = ''] = text.split(/\r?\n/, 1);
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  refuse('bad_token_file', `The first line of ${file} is not a token: printable ASCII without spaces.`);
}

function describe(url: string, pays: boolean, check: GatewayCheck): Output {
  const { results, passed, blocked, orders, wronglyAccepted, amountKopecks } = check;
  return {
    isBad: !passed,
    json: {
      url,
      passed,
      orders,
      wrongly_accepted: wronglyAccepted,
      amount_kopecks: Number(amountKopecks),
      checks: results.map(({ name, outcome, detail, rule, durationMs }) => ({
        check: name,
        outcome,
        detail: detail || null,
        rule,
        duration_ms: durationMs,
      })),
    },
    text: [
      table(
        results.filter(({ detail }) => blocked === undefined || detail !== blocked),
        ({ name, outcome, durationMs, detail }) => ({
          check: name,
          result: outcome === 'failed' ? 'FAILED' : outcome,
          ms: outcome === 'skipped' ? '' : `${durationMs}`,
          found: detail,
        }),
      ),
      '',
      ...rulesOf(results),
      ...(blocked === undefined ? summaryOf(check, pays) : [`Nothing more was checked: ${blocked}.`]),
    ].join('\n'),
  };
}

function rulesOf(results: GatewayCheck['results']): string[] {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0) return [];
  return ['What the contract says:', ...failed.map(({ name, rule }) => `  ${name}: ${rule}`), ''];
}

function summaryOf({ results, orders, wronglyAccepted, amountKopecks }: GatewayCheck, pays: boolean) {
  const count = (wanted: string) => results.filter(({ outcome }) => outcome === wanted).length;
  const placed =
    orders === 0
      ? 'No order was placed.'
      : `Orders placed: ${orders}, of ${formatKopecks(amountKopecks)} RUB each.`;
  const more =
    wronglyAccepted > 0
      ? ` ${wronglyAccepted} more were accepted and must not be: see the failed checks.`
      : '';
  const next = "To test payments, point the adapter at the bank's test stand and add --qr LINK --pay.";
  return [
    `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped. ${placed}${more}`,
    ...(pays ? [] : [next]),
  ];
}
