/** The pages, in the order of the menu, with the letter of its shortcut after `g`. */
export const navigation = [
  { name: 'overview', path: '/', key: 'o', group: 'work' },
  { name: 'payments', path: '/payments', key: 'p', group: 'work' },
  { name: 'review', path: '/review', key: 'v', group: 'work' },
  { name: 'requests', path: '/requests', key: 'q', group: 'work' },
  { name: 'deliveries', path: '/deliveries', key: 'd', group: 'work' },
  { name: 'alarms', path: '/alarms', key: 'm', group: 'work' },
  { name: 'partners', path: '/partners', key: 'a', group: 'money' },
  { name: 'deposits', path: '/deposits', key: 't', group: 'money' },
  { name: 'ledger', path: '/ledger', key: 'l', group: 'money' },
  { name: 'rates', path: '/rates', key: 'r', group: 'money' },
  { name: 'reconciliation', path: '/reconciliation', key: 'c', group: 'money' },
  { name: 'recipients', path: '/recipients', key: 'b', group: 'control' },
  { name: 'requestLog', path: '/request-log', key: 'e', group: 'control' },
  { name: 'audit', path: '/audit', key: 'u', group: 'control' },
  { name: 'settings', path: '/settings', key: 's', group: 'control' },
] as const;
