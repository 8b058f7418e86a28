import { accessSabotages } from './access.ts';
import { approvalSabotages } from './approvals.ts';
import { archiveSabotages } from './archive.ts';
import { backupSabotages } from './backup.ts';
import { lostHistorySabotages } from './lost-history.ts';
import { moneySabotages } from './money.ts';
import { openingSabotages } from './openings.ts';
import { serviceSabotages } from './service.ts';
import { testDataSabotages } from './test-data.ts';

export const sabotages = [
  ...moneySabotages,
  ...openingSabotages,
  ...lostHistorySabotages,
  ...archiveSabotages,
  ...testDataSabotages,
  ...serviceSabotages,
  ...approvalSabotages,
  ...accessSabotages,
  ...backupSabotages,
];
