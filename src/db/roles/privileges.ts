/** What the service, or reports, may do with a table or view. */
type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

/** Rows are added and never changed. */
const appendOnly = [
  'audit',
  'deposit_addresses',
  'entries',
  'events',
  'operation_numbers',
  'rate_rules',
  'rates',
  'refunds',
];
/** Written by the owner, or by a function with its rights. */
const ownersOnly = [
  'archive_sums',
  'archived_keys',
  'archived_months',
  'archived_references',
  'audit_chain',
  'audit_unchained',
  'entries_archive',
  'events_archive',
  'payments_archive',
  'schema_functions',
  'schema_migrations',
  'test_checkpoints',
];
/** Rows change and stay. */
const kept = [
  'accounts',
  'api_keys',
  'deposit_chains',
  'deposits',
  'entry_gaps',
  'incarnations',
  'operators',
  'partner_contacts',
  'partners',
  'payments',
  'recovered_payments',
  'service',
  'signing_keys',
  'stray_orders',
];
/** Hashes, sealed secrets and who signs in: not for reports. */
const secret = [
  'api_keys',
  'endpoints',
  'invitations',
  'key_addresses',
  'known_clients',
  'login_attempts',
  'operator_sessions',
  'operators',
  'portal_links',
  'portal_sessions',
  'report_addresses',
  'secret_keys',
  'signing_keys',
];

export function runPrivileges(table: string): Privilege[] {
  if (ownersOnly.includes(table)) return ['SELECT'];
  if (appendOnly.includes(table)) return ['SELECT', 'INSERT'];
  return kept.includes(table) ? ['SELECT', 'INSERT', 'UPDATE'] : ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
}

export const readPrivileges = (table: string): Privilege[] => (secret.includes(table) ? [] : ['SELECT']);

/** Functions with the rights of the owner that the service calls. Not every such function: somebody may have left one behind. */
const ownersFunctions = [
  'archive_copy_entries',
  'archive_copy_payments',
  'archive_entries',
  'archive_payments',
  'archive_prepare',
  'audit_chain_extend',
  'log_partition_add',
  'log_partition_drop',
  'prune_test_data',
];

export const mayRunCall = (name: string) => ownersFunctions.includes(name);
