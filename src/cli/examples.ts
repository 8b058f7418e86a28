import type { Command } from 'commander';

const partner = 'prt_01m7ehqr39e00aq7xw60wbe32j';
const request = 'req_01m7ehqr39e00aq7xw60wbe32j';
const payment = 'pay_01m7ehqr39e00aq7xw60wbe32j';
const endpoint = 'whe_01m7ehqr39e00aq7xw60wbe32j';
const deposit = 'dep_01m7ehqr39e00aq7xw60wbe32j';

/** Stand for the arguments of a command that has no examples below. */
const samples: Record<string, string> = {
  ...{ partner, payment, request, 'key-id': '7f3a9c21b0d4', name: 'first-line', alarm: '7', window: '3' },
  'id-or-name': "'Suspicious shop'",
};

/** For the help of each command; of others, its call with samples is the example. A test parses all. */
const examples: Record<string, string[]> = {
  start: ['kopeck start', 'PORT=3000 DATA_DIR=/srv/kopeck kopeck start'],
  doctor: ['kopeck doctor', 'kopeck doctor --json'],
  migrate: ['kopeck migrate', 'kopeck migrate --run-role kopeck_run --read-role kopeck_read'],
  demo: ['kopeck demo', 'kopeck demo --payments 200 --minutes 10'],
  completion: ['kopeck completion bash > /etc/bash_completion.d/kopeck'],
  'partner create': ["kopeck partner create --name 'Coffee shop'"],
  'partner suspend': [`kopeck partner suspend ${partner} --reason 'asked for by the partner'`],
  'partner invite': [`kopeck partner invite ${partner} --role developer`],
  'partner limits': [
    `kopeck partner limits ${partner}`,
    `kopeck partner limits ${partner} --max-rub 100000 --daily-rub none --concurrent 50`,
  ],
  'key create': [
    `kopeck key create ${partner} --mode test`,
    `kopeck key create ${partner} --mode live --allow-ip 192.0.2.7 --allow-ip 2001:db8::/32`,
    `kopeck key create ${partner} --mode live --scope read --label Accounting --expires 90d`,
  ],
  'key roll': ['kopeck key roll 7f3a9c21b0d4', 'kopeck key roll 7f3a9c21b0d4 --overlap 48h'],
  'key allow': [
    'kopeck key allow 7f3a9c21b0d4 --allow-ip 192.0.2.0/24',
    'kopeck key allow 7f3a9c21b0d4 --any',
  ],
  'balance credit': [`kopeck balance credit ${partner} --mode live --usdt 250.50 --reference tx-1`],
  'deposit address': [`kopeck deposit address ${partner}`, `kopeck deposit address ${partner} --chain tron`],
  'deposit decide': [`kopeck deposit decide ${deposit} --outcome rejected --reason 'sender under sanctions'`],
  'deposit sweep': ['kopeck deposit sweep --chain tron > sweep.csv'],
  'deposit reconcile': ['kopeck deposit reconcile --chain ethereum --day 2026-11-15'],
  'deposit rewind': [
    "kopeck deposit rewind --chain ethereum --block 21000000 --reason 'reorganisation below the final block'",
  ],
  'ledger statement': [`kopeck ledger statement ${partner} --mode live --day 2026-11-15 --csv`],
  'rate rules': ['kopeck rate rules', "kopeck rate rules --spread-bps 150 --reason 'agreed with finance'"],
  'gateway check': [
    'kopeck gateway check https://bank-adapter.internal --token-file /run/secrets/gateway-token',
    "kopeck gateway check http://127.0.0.1:9000 --qr 'https://qr.nspk.ru/AS1…?sum=1000&cur=RUB' --pay",
  ],
  reconcile: ['kopeck reconcile', 'kopeck reconcile --day 2026-11-15'],
  'audit verify': ['kopeck audit verify', `kopeck audit verify --head 412:${'0'.repeat(64)}`],
  'audit export': ['kopeck audit export --to audit.jsonl'],
  'secret signing-keys': ['kopeck secret signing-keys', 'kopeck secret signing-keys --rotate'],
  'secret rotate': ['kopeck secret rotate', 'kopeck secret rotate --batch 500 --json'],
  'recovery release': [`kopeck recovery release ${payment} --reason 'refunded by the bank'`],
  'archive move': ['kopeck archive move --before 2026-01 --dry-run', 'kopeck archive move --before 2026-01'],
  'archive distribute': ['kopeck archive distribute', 'kopeck archive distribute --json'],
  'payment list': [
    'kopeck payment list --external-id order-1',
    "kopeck payment list --partner 'Coffee' --status failed --limit 50",
  ],
  'payment resolve': [`kopeck payment resolve ${payment} --outcome succeeded --reason 'bank statement 42'`],
  'request list': [
    "kopeck request list --partner 'Coffee shop' --status 4xx",
    'kopeck request list --path /v1/payments --error rate_limited --since 2026-11-15T10:00:00Z',
  ],
  'refund read': [
    'kopeck refund read --since 2026-11-15T10:00:00Z',
    `kopeck refund read --payment ${payment}`,
  ],
  'webhook set': [`kopeck webhook set ${partner} --url https://shop.example/kopeck`],
  'webhook add': [
    `kopeck webhook add ${partner} --mode live --url https://books.example/kopeck --events payment.succeeded,payment.refunded`,
  ],
  'webhook remove': [`kopeck webhook remove ${partner} --endpoint ${endpoint}`],
  'webhook check': [
    `kopeck webhook check ${partner}`,
    `kopeck webhook check ${partner} --endpoint ${endpoint}`,
  ],
  'webhook events': [
    `kopeck webhook events ${partner} --refunded on`,
    `kopeck webhook events ${partner} --endpoint ${endpoint} --only payment.failed`,
  ],
  'webhook ed25519': [`kopeck webhook ed25519 ${partner} --sign on`],
  'webhook log': [`kopeck webhook log ${partner} --limit 20`],
  'webhook resend': ['kopeck webhook resend evt_17', 'kopeck webhook resend --failed --since 2026-11-15'],
  'maintenance plan': ['kopeck maintenance plan --from 2026-11-15T22:00:00Z --until 2026-11-15T22:30:00Z'],
  'alarm list': ['kopeck alarm list', 'kopeck alarm list --all --json'],
  'operator create': ['kopeck operator create --name first-line --role support'],
  'operator role': ['kopeck operator role first-line --role viewer'],
  'backup create': [
    'kopeck backup create --to /backups --keep 7',
    'kopeck backup create --to s3://bucket/kopeck',
  ],
  'backup list': ['kopeck backup list --from /backups'],
  'backup verify': ['kopeck backup verify --from /backups'],
  restore: [
    'DATA_DIR=/srv/kopeck kopeck restore --from /backups',
    'DATA_DIR=/srv/kopeck kopeck restore --from /backups --at 2026-11-15T10:00:00Z',
  ],
  drill: ['kopeck drill', 'kopeck drill --from /backups'],
  'archive-wal': ['kopeck archive-wal %p %f --to /backups'],
  'restore-wal': ['kopeck restore-wal %f %p --from /backups'],
  listen: ['KOPECK_KEY=svc_test_… kopeck listen --forward-to http://127.0.0.1:3000/webhooks'],
  trigger: ['KOPECK_KEY=svc_test_… kopeck trigger payment.succeeded'],
};

/** Adds them to the help of each command. */
export function addExamples(command: Command, path = ''): void {
  for (const one of command.commands) addExamples(one, path ? `${path} ${one.name()}` : one.name());
  if (command.commands.length > 0) return;
  const words = command.registeredArguments.map(one => samples[one.name()]);
  const own = examples[path] ?? [['kopeck', path, ...words].join(' ')];
  command.addHelpText('after', `\nExamples:\n${own.map(line => `  ${line}`).join('\n')}`);
}
