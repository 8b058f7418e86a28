import { accessSabotages } from './access.ts';
import { approvalSabotages } from './approvals.ts';
import { archiveSabotages } from './archive.ts';
import { moneySabotages } from './money.ts';
import { serviceSabotages } from './service.ts';

export const sabotages = [
  ...moneySabotages,
  ...archiveSabotages,
  ...serviceSabotages,
  ...approvalSabotages,
  ...accessSabotages,
];
