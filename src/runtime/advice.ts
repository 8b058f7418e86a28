import { programName } from '../base/program-name.ts';
import type { Settings } from '../base/settings.ts';
import type { Database } from '../db/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import { findRecovering, type RecoveringIncarnation } from '../payments/index.ts';
import { createDemoPartner, createFirstSetupLink, describeDemoPartner } from './first-run.ts';
import type { BankSide } from './simulator.ts';

type Print = (line: string) => void;

const causes: Record<string, string> = {
  promotion: 'A standby became the primary',
  restore: 'The database was restored',
  copy: 'The database is a copy',
};

const describeRecovering = ({ cause, certainAt }: RecoveringIncarnation) =>
  `${causes[cause] ?? 'The database has changed'}: payments after ${certainAt.toISOString()} may be missing in it. New payments
wait until these are recovered from the payment gateway, about 20 s. See: ${programName} recovery show
`;

export interface Started {
  settings: Settings;
  database: Database;
  bank: BankSide | undefined;
  address: string | undefined;
}

/**
 * After the start: what is being recovered, and what a new installation needs next: the setup link of the first operator, and the keys
 * of a demonstration partner.
 */
export async function printAdvice(
  { settings, keyring, database, bank, address }: Started & { keyring: Keyring },
  print: Print,
): Promise<void> {
  const recovering = await findRecovering(database.pool);
  if (recovering) print(describeRecovering(recovering));
  if (!address) return;
  const { roles, production } = settings;
  const audit = { pool: database.pool, clock: database.clock, actor: 'first start' };
  if (roles.includes('console')) {
    const lines = await createFirstSetupLink(audit, keyring, settings, address);
    if (lines) print(lines);
  }
  if (!roles.includes('api')) return;
  const demonstration = bank && !production && (await createDemoPartner(audit, keyring));
  print(
    demonstration
      ? describeDemoPartner(demonstration, address)
      : `Partners and keys: ${programName} partner list`,
  );
}
